"""What is known of single routers, for ``hopscope why`` and for the panel of pages."""
