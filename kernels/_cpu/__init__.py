"""What kernels on cores share: lanes, signatures, threads, memory, compiling ahead."""
