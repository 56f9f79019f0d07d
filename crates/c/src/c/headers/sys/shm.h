#ifndef __INVDIFF_SYS_SHM_H
#define __INVDIFF_SYS_SHM_H
#include <sys/ipc.h>
#define SHM_R 0400
#define SHM_W 0200
#define SHM_RDONLY 010000
#define SHM_RND 020000
#define SHM_REMAP 040000
#define SHM_HUGETLB 04000
#define SHM_LOCK 11
#define SHM_UNLOCK 12
#define SHMLBA 4096
typedef unsigned long shmatt_t;
struct shmid_ds {
    struct ipc_perm shm_perm;
    size_t shm_segsz;
    time_t shm_atime, shm_dtime, shm_ctime;
    pid_t shm_cpid, shm_lpid;
    shmatt_t shm_nattch;
    unsigned long __reserved[2];
};
int shmget(key_t, size_t, int);
void *shmat(int, const void *, int);
int shmdt(const void *);
int shmctl(int, int, struct shmid_ds *);
#endif
