// What Wasp asks of libnuma, where it is not installed: the node of this thread, and one distance.

#pragma once

#include <sys/syscall.h>
#include <unistd.h>

inline int numa_available() { return 0; }

inline int numa_node_of_cpu(int) {  // Wasp asks only about where it runs
    unsigned cpu = 0, node = 0;
    syscall(SYS_getcpu, &cpu, &node, nullptr);
    return (int)node;
}

inline int numa_distance(int a, int b) { return a == b ? 10 : 20; }
