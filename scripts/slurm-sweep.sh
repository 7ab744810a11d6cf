#!/bin/bash
# A sweep as a Slurm job array: every task runs one shard, and goes on after its time limit until the shard is complete.
#
#     sbatch --array=1-4 scripts/slurm-sweep.sh OUT CASE --vary PATH=VALUES [more options of carom sweep]
#
# Shards go to OUT/shard-<i>. When all tasks are done:
#
#     carom merge OUT/shard-* -o OUT/all
#
# Environment: CAROM, the program (default: carom on the path); CAROM_MAX_WALL, the time after which a task stops by
# itself and is put back into the queue (default: 50m; less than --time, or Slurm's own limit comes first).
#
#SBATCH --job-name=carom-sweep
#SBATCH --time=60
#SBATCH --requeue
#SBATCH --open-mode=append
set -u

out=${1:?"usage: sbatch --array=1-N $0 OUT CASE --vary PATH=VALUES ..."}
shift
shard=${SLURM_ARRAY_TASK_ID:?"not a task of a job array: give sbatch --array=1-N"}
shards=${SLURM_ARRAY_TASK_COUNT:?"not a task of a job array"}
if [ "${SLURM_ARRAY_TASK_MIN:-1}" != 1 ] || [ "${SLURM_ARRAY_TASK_MAX:-$shards}" != "$shards" ]; then
    echo "the array must be 1-N without gaps" >&2
    exit 2
fi

# Finished rows are on the disk; a run under way leaves a checkpoint. The same command goes on with both.
${CAROM:-carom} sweep "$@" --shard "$shard/$shards" -o "$out/shard-$shard" \
    --threads "${SLURM_CPUS_PER_TASK:-1}" --max-wall "${CAROM_MAX_WALL:-50m}" -q
code=$?

# 8: the time is up. Slurm starts the task again from the top.
if [ "$code" = 8 ]; then
    echo "shard $shard: out of time (restart ${SLURM_RESTART_COUNT:-0}), back into the queue"
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_$shard"
    # The job is ended by the requeue; waiting here keeps Slurm from booking it as done.
    sleep 60
fi
echo "shard $shard: exit code $code"
exit $code
