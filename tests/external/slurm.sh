#!/usr/bin/env bash
# A sweep on a real Slurm of one node: scripts/slurm-sweep.sh as an array of four tasks whose time limit is so short that
# they are requeued and go on, merged, and compared with the sweep in one piece.
#
#     slurm.sh CAROM [DIR]
#
# DIR is where its files go until it is done.
# Needs root and Debian's slurm-wlm and munge. Daemons are started for this test and ended by their process ids.
set -euo pipefail
carom=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "${2:-/tmp}"
work=$(mktemp -d "$(realpath "${2:-/tmp}")/slurm-XXXXXX")
daemons=()

finish() {
    for pid in "${daemons[@]}"; do
        kill "$pid" 2>/dev/null || true
    done
    wait
    rm -rf "$work"
}
trap finish EXIT

# Signatures of messages between the daemons.
if ! munge -n >/dev/null 2>&1; then
    mkdir -p /run/munge
    chown munge: /run/munge
    if [ ! -f /etc/munge/munge.key ]; then
        head -c 1024 /dev/urandom >/etc/munge/munge.key
        chown munge: /etc/munge/munge.key
        chmod 400 /etc/munge/munge.key
    fi
    setpriv --reuid=munge --regid=munge --clear-groups munged --foreground 2>"$work/munged.log" &
    daemons+=($!)
    for _ in $(seq 50); do munge -n >/dev/null 2>&1 && break; sleep 0.2; done
fi

host=$(hostname)
# Ports of its own, so that a Slurm that is there is left alone.
cat >"$work/slurm.conf" <<END
ClusterName=carom
SlurmUser=root
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=batch_sched_delay=1,sched_interval=2
MinJobAge=300
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
END
echo "CgroupAutomount=no" >"$work/cgroup.conf"
mkdir -p "$work/state" "$work/spool"
export SLURM_CONF=$work/slurm.conf
slurmctld -D 2>/dev/null &
daemons+=($!)
slurmd -D -f "$SLURM_CONF" 2>/dev/null &
daemons+=($!)
for _ in $(seq 100); do
    sinfo -h -o %T 2>/dev/null | grep -q idle && break
    sleep 0.2
done
sinfo

# The limit is a part of what a shard takes, so that every task is stopped in the middle of a run, more than once.
cd "$work"
sweep=("$root/cases/impacting-bar.toml" --vary scheme.rho_inf=0:1:12 --set time.step=2e-5 --set output.history.every=100)
start=$(date +%s.%N)
"$carom" sweep "${sweep[@]}" -o whole -q --threads 1 >/dev/null
export CAROM=$carom CAROM_MAX_WALL
CAROM_MAX_WALL=$(awk -v from="$start" -v to="$(date +%s.%N)" 'BEGIN { printf "%.3f", (to - from) / 4 / 5 }')
job=$(sbatch --parsable --array=1-4 --ntasks=1 --mem=100 --begin=now "$root/scripts/slurm-sweep.sh" "$work/shards" "${sweep[@]}")
for _ in $(seq 60); do
    # Not the queue: while a task goes back there, it is not listed.
    [ "$(cat slurm-*.out 2>/dev/null | grep -c 'exit code')" = 4 ] && break
    # A requeued job waits two minutes by default; the test does not. But one that starts within the second of its requeue is
    # refused by Slurm ("job credential revoked").
    scontrol update JobId="$job" StartTime=now+2 >/dev/null 2>&1 || true
    sleep 5
done
squeue
cat slurm-*.out
requeued=$(cat slurm-*.out | grep -c "back into the queue" || true)
"$carom" merge shards/shard-* -o merged -q >/dev/null
diff -r whole merged
[ "$requeued" -gt 0 ] || { echo "no task ran out of time: nothing was shown"; exit 1; }
echo "four shards, $requeued requeues, $(wc -l <merged/table.jsonl) rows: the bytes of the sweep in one piece"
