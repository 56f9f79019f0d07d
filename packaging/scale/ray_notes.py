#!/usr/bin/env python3
"""Notes of a whole history, by all machines of a Ray cluster.

    python3 packaging/scale/ray_notes.py --shards 64 --effort quick .
    python3 packaging/scale/ray_notes.py --address auto --shards 512 --origin ssh://git@host/project.git .

One task a share of the commits. A task works in a clone of its own, writes a notes ref of its own, and sends
it to the origin as it goes; the head joins all of them at the end. Whatever is killed, a worker or all of it:
the same command goes on from what is written. The origin is a path that all machines see, or a URL that they
may push refs/notes/ to; `git-invdiff` and `git` are on their paths. See docs/scale.md.
"""

import argparse
import ctypes
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ray

# Seconds after which a task sends what it has.
EVERY = 60


def git(folder, *words):
    """Runs git in a folder and returns what it prints; its own words tell what went wrong."""
    done = subprocess.run(["git", "-C", str(folder), *words], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def end_with_parent():
    """Lets a child end in good order when its worker is killed: the second try is not to find it at work."""
    if sys.platform == "linux":
        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGTERM)


def objects(origin, work):
    """A repository on this machine that has the origin's objects: itself, or one mirror for all tasks here."""
    if Path(origin).is_dir():
        return Path(origin)
    mirror = work / hashlib.sha256(origin.encode()).hexdigest()[:16]
    with open(f"{mirror}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not mirror.exists():
            shutil.rmtree(f"{mirror}.part", ignore_errors=True)
            git(work, "clone", "--quiet", "--bare", origin, f"{mirror}.part")
            os.rename(f"{mirror}.part", mirror)
        git(mirror, "fetch", "--quiet", "origin", "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
    return mirror


def clone_of(origin, mirror, folder):
    """The clone of a share; one that an earlier try left here is taken up."""
    if not folder.exists():
        part = Path(f"{folder}.part")
        shutil.rmtree(part, ignore_errors=True)
        git(mirror, "clone", "--quiet", "--bare", "--shared", ".", str(part))
        git(part, "remote", "set-url", "origin", origin)
        os.rename(part, folder)
    return folder


def add(clone, cache, index, shards, commit, effort):
    """Adds the notes of a share, and sends them now and then; returns the exit status."""
    ref = ["notes", "--ref", f"invdiff-shard-{index}"]
    words = ["add", "--all", "--shard", f"{index}/{shards}", commit]
    if effort:
        words += ["--effort", effort]
    git(clone, "invdiff", *ref, "sync", "origin")
    command = ["git", "-C", str(clone), "invdiff", "-q", "-j", "1", *ref, *words]
    environment = {"INVDIFF_CACHE_DIR": str(cache), **os.environ}
    child = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, env=environment, preexec_fn=end_with_parent
    )
    while child.poll() is None:
        try:
            child.wait(EVERY)
        except subprocess.TimeoutExpired:
            pass
        git(clone, "invdiff", *ref, "sync", "origin")
    return child.returncode


# A worker that dies is replaced for as long as that takes; what is wrong with a share is said at once.
@ray.remote(num_cpus=1, max_retries=-1)
def annotate(origin, work, index, shards, commit, effort):
    """Writes and sends the notes of one share; returns the seconds it took."""
    begin = time.time()
    work = Path(work)
    work.mkdir(parents=True, exist_ok=True)
    mirror = objects(origin, work)
    git_dir = git(mirror, "rev-parse", "--path-format=absolute", "--git-common-dir")
    cache = Path(git_dir) / "invdiff" / "cache"
    folder = work / f"{hashlib.sha256(origin.encode()).hexdigest()[:16]}-{index}-of-{shards}"
    for is_last in (False, False, True):
        status = add(clone_of(origin, mirror, folder), cache, index, shards, commit, effort)
        if status == 0:
            shutil.rmtree(folder)
            return time.time() - begin
        if is_last:
            break
        # Ended by a signal, as by who runs out of memory: on from there. Else: once more, with a new clone.
        if status > 0:
            shutil.rmtree(folder)
    raise RuntimeError(f"share {index} of {shards}: 'git invdiff notes add' ended with {status}")


def main():
    parser = argparse.ArgumentParser(description="Notes of a whole history, by a Ray cluster")
    parser.add_argument("repository", help="where the notes are joined")
    parser.add_argument("--shards", type=int, required=True, help="shares; several for each processor")
    parser.add_argument("--revision", default="HEAD", help="all commits that lead to it (default: HEAD)")
    parser.add_argument("--origin", help="what tasks clone and push to (default: the repository)")
    parser.add_argument("--effort", choices=["quick", "normal", "deep"])
    parser.add_argument("--address", help="of a cluster, or auto (default: this machine)")
    parser.add_argument("--cpus", type=int, help="processors, of this machine (default: all)")
    parser.add_argument("--work", default=f"{tempfile.gettempdir()}/invdiff-work", help="folder for clones")
    options = parser.parse_args()

    repository = Path(options.repository).resolve()
    origin = options.origin or git(repository, "rev-parse", "--absolute-git-dir")
    commit = git(repository, "rev-parse", "--verify", f"{options.revision}^{{commit}}")
    here = {} if options.address else {"num_cpus": options.cpus, "include_dashboard": False}
    ray.init(address=options.address, **here)

    shares = range(1, options.shards + 1)
    tasks = {
        annotate.remote(origin, options.work, index, options.shards, commit, options.effort): index
        for index in shares
    }
    waiting = list(tasks)
    while waiting:
        done, waiting = ray.wait(waiting)
        seconds = ray.get(done[0])
        print(f"share {tasks[done[0]]} of {options.shards}: {seconds:.0f} s, {len(waiting)} to come", flush=True)
    if options.origin:
        git(repository, "fetch", "--quiet", origin, "+refs/notes/invdiff-shard-*:refs/notes/invdiff-shard-*")
    print(git(repository, "invdiff", "notes", "merge", *(f"invdiff-shard-{index}" for index in shares)))


if __name__ == "__main__":
    main()
