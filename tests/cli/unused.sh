# SPDX-License-Identifier: GPL-3.0-or-later
# Keys that can change nothing: each command that reads a scenario says so once, with the line, and goes on.
{ cat good.ini; printf 'stage = 3\n[network]\nnodes-per-leaf = 2\n[noise]\npause-steps = 100\n'; } > idle.ini
quietly ()
{
  echo "\$ lockstep $*" >&2
  lockstep "$@" > out
  echo "exit $?"
}
quietly check idle.ini
quietly show idle.ini
quietly run idle.ini
quietly scale idle.ini --nodes 1,2 --plot scale.svg
quietly compare idle.ini good.ini
quietly run idle.ini --quiet
quietly sweep idle.ini --quiet --set sweep.cluster.nodes=1,2
# More blocks than there are.
quietly check good.ini --set workload.name=gpt2 --set strategy.kind=fsdp --set training.offload-activations=99
quietly check good.ini --set workload.name=gpt2 --set strategy.kind=fsdp --set 'training.offload-rate=3 GB/s'
# A key that some points of [sweep] use is used; one that none does is said at its line of [sweep].
{ cat good.ini; printf 'stage = 3\n[sweep]\nstrategy.kind = ddp, zero\nstrategy.cycle-time = 1 ms, 2 ms\n'; } > swept.ini
quietly check swept.ini
lockstep sweep swept.ini --format csv 2>&1 > out | sed 's/ in [0-9.]* s.*/ in ... s/' >&2
# What an included file gives is for others too; a --set is not.
printf '[scenario]\ninclude = idle.ini\n[strategy]\nkind = flat\n' > above.ini
quietly check above.ini
quietly check above.ini --set strategy.bucket-size='5 MB'
