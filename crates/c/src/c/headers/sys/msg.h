#ifndef __INVDIFF_SYS_MSG_H
#define __INVDIFF_SYS_MSG_H
#include <sys/ipc.h>
#define MSG_NOERROR 010000
typedef unsigned long msgqnum_t;
typedef unsigned long msglen_t;
struct msqid_ds {
    struct ipc_perm msg_perm;
    time_t msg_stime, msg_rtime, msg_ctime;
    unsigned long __msg_cbytes;
    msgqnum_t msg_qnum;
    msglen_t msg_qbytes;
    pid_t msg_lspid, msg_lrpid;
    unsigned long __reserved[2];
};
int msgget(key_t, int);
int msgsnd(int, const void *, size_t, int);
ssize_t msgrcv(int, void *, size_t, long, int);
int msgctl(int, int, struct msqid_ds *);
#endif
