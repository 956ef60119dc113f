/* A clock that is wrong by as many seconds as the file CLOCK_OFFSET says, at any moment. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static const volatile long long *wrong_by;

__attribute__((constructor)) static void find_offset(void) {
    const char *path = getenv("CLOCK_OFFSET");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *page = file < 0 ? MAP_FAILED : mmap(NULL, 8, PROT_READ, MAP_SHARED, file, 0);
    if (page == MAP_FAILED)
        abort();
    wrong_by = page;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*right)(clockid_t, struct timespec *);
    if (!right)
        right = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int outcome = right(clock, time);
    if (outcome == 0 && clock == CLOCK_REALTIME)
        time->tv_sec += *wrong_by;
    return outcome;
}
