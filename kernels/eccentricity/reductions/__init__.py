"""What makes searches unnecessary: pendant trees, landmarks, far pairs, reference nodes."""
