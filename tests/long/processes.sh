# Several processes, at length: one of two is killed at a random moment, 30 times, and each time the fit goes on from its
# checkpoint, to the bits of a fit that nobody killed; then jobs of Slurm on this machine. Takes some minutes; not a test of
# the suite. RAREBIT is the tool, SOURCE the source tree. Slurm needs root, slurmctld, slurmd and munged.
# shellcheck disable=SC2086 # words
. "$SOURCE/tests/cli/lib/lib.sh"
. "$SOURCE/tests/cli/lib/killed.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
kills=${KILLS:-30}

expect 0 simulate biclusters --samples 17000 --features 12 --seed 1 -o X.npy -q

# codes_of MODEL FILE: what a model says of X, which holds neither clock nor command line.
codes_of() {
    expect 0 encode "$1" X.npy -o "$2" -q
}

# ---- kills ----

awk -v kills="$kills" 'BEGIN { srand(1); for (i = 0; i < kills; i++) printf "%d %.2f\n", 2 * rand(), 2 * rand() }' >moments
mpi=mpich
while read -r which seconds; do
    if [ $mpi = mpich ]; then mpi=openmpi; else mpi=mpich; fi
    kill_one $mpi "$which" "$seconds"
done <moments
"mpirun.$mpi" -n 2 "$RAREBIT" $killed_fit --iterations 1000000 --checkpoint k.ck --max-time 1 -o m.h5 >out 2>&1 </dev/null || fail "$(cat out)"
iterations=$(sed -n 's/^rfn: \([0-9]*\) iterations.*/\1/p' out)
echo "$kills kills, $iterations iterations"
expect 0 $killed_fit --iterations "$iterations" -o one.h5 -q
codes_of m.h5 killed.npy
codes_of one.h5 one.npy
cmp killed.npy one.npy || fail "killed $kills times: other codes than of a fit that nobody killed"

# ---- Slurm ----

for program in slurmctld slurmd munged srun; do
    command -v $program >/dev/null || skip "no $program" slurmctld slurmd munge
done
pgrep -x munged >/dev/null || { mkdir -p /run/munge && munged --force; } || fail "munged does not start"
mkdir slurm slurm/state slurm/spool
cat >slurm/slurm.conf <<END
ClusterName=one
SlurmctldHost=$(hostname)(127.0.0.1)
AuthType=auth/munge
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
StateSaveLocation=$PWD/slurm/state
SlurmdSpoolDir=$PWD/slurm/spool
SlurmctldPidFile=$PWD/slurm/ctld.pid
SlurmdPidFile=$PWD/slurm/d.pid
SlurmctldLogFile=$PWD/slurm/ctld.log
SlurmdLogFile=$PWD/slurm/d.log
SelectType=select/cons_tres
ReturnToService=2
NodeName=$(hostname) NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
SlurmdParameters=config_overrides
PartitionName=all Nodes=$(hostname) Default=YES State=UP OverSubscribe=FORCE
END
export SLURM_CONF=$PWD/slurm/slurm.conf
slurmctld
slurmd
for mpi in pmix pmi2; do # of Open MPI, of MPICH
    srun --mpi=$mpi -n 2 "$RAREBIT" $killed_fit --iterations 8 -o $mpi.h5 >out 2>&1 </dev/null || fail "$mpi: $(cat out)"
    [ "$(grep -c 'model in' out)" = 1 ] || fail "$mpi: said not once: $(cat out)"
    codes_of $mpi.h5 $mpi.npy
done
expect 0 $killed_fit --iterations 8 -o one.h5 -q
codes_of one.h5 one.npy
for mpi in pmix pmi2; do
    cmp one.npy $mpi.npy || fail "$mpi: other codes than one process has"
done
srun -n 2 "$RAREBIT" $killed_fit -o n.h5 >out 2>&1 </dev/null && fail "two processes that cannot meet went well"
grep -q "give it --mpi=pmix" out || fail "$(cat out)"

select="select pca X.npy --units 1:3 --restarts 3 --seed 1"
printf '#!/bin/sh\n%s\n' "\"$RAREBIT\" $select --part \$SLURM_ARRAY_TASK_ID/3 --checkpoint part\$SLURM_ARRAY_TASK_ID" >array
sbatch --wait --array=1-3 --cpus-per-task=1 array >out 2>&1 || fail "$(cat out slurm-*.out)"
expect 0 merge part1 part2 part3 -o all
expect 0 $select --checkpoint all
cp out parts
expect 0 $select
cmp out parts || fail "an array chose otherwise"
for daemon in d ctld; do # which write until they are gone
    pid=$(cat slurm/$daemon.pid)
    kill "$pid"
    while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
done
finish
