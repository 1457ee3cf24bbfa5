# SPDX-License-Identifier: GPL-3.0-or-later
# Numbers that no table can hold are refused at their line; so are sources that nothing was measured at.
kernels ()
{
  { echo gpu,dtype,m,n,k,batch,time_us,tflops
    echo H100,bf16,4096,4096,4096,1,300,458
    echo "$1"; } > kernels.csv
}
for row in H100,bf16,-4096,4096,4096,1,300, H100,bf16,4096,4096,many,1,300, H100,bf16,4096,1e300,4096,1,300, \
           H100,bf16,4096,4096,4096,1,-3, H100,bf16,4096,4096,4096,1,300,-458; do
  kernels "$row"
  wrong calibrate compute kernels.csv
done

reduces ()
{
  { echo collective,nodes,gpus_per_node,ranks,gpu,nic_gbps_per_node,size_bytes,time_us,algbw_GBps,busbw_GBps
    echo all_reduce,1,8,8,H100,,1048576,40,26.2,45.9
    echo "$1"; } > reduces.csv
}
for row in all_reduce,1,8,8,H100,,-1048576,40,, all_reduce,1,8,8,H100,,1048576,-40,, all_reduce,1,8,8,H100,-400,1048576,40,, \
           all_reduce,1,8,8,H100,,1e300,40,, all_reduce,1,8,8,H100,,1048576,40,-26.2, all_reduce,1,8,8,H100,,1048576,40,,-45.9; do
  reduces "$row"
  wrong calibrate network reduces.csv
done

printf 'op,size_bytes,busbw_Bps,algorithm\nall-reduce,1,1e9,ring\nall-reduce,2,1e300,ring\n' > points.csv
try plot points.csv -o points.svg
[ ! -e points.svg ] || echo 'points.svg was written'

# The tables that are shipped, with a slip.
cp -r "${LOCKSTEP_MODELS:?}" models
mkdir calibration
cp "$LOCKSTEP_MODELS"/../calibration/*.csv calibration
printf 'file,intra,node_rate_GBps,rails,launch,origin\nreduces*,,,-8,,\n' > calibration/network-platforms.csv
reduces all_reduce,1,8,8,H100,,2097152,50,,
LOCKSTEP_MODELS=models wrong calibrate network reduces.csv
LOCKSTEP_CALIBRATION=calibration wrong calibrate network reduces.csv
sed -i 's/^\(efficiency,any,Ampere\),[0-9.]*,/\1,-0.9,/' models/llm.csv
LOCKSTEP_MODELS=models wrong run good.ini --set cluster.gpu=A100-SXM4-80GB --set workload.name=gpt2 --set strategy.kind=fsdp
sed -i 's/^ddp,launch_s,/&-/' models/framework.csv
LOCKSTEP_MODELS=models wrong run good.ini
sed -i '/^ddp,launch_s,/d' models/framework.csv
LOCKSTEP_MODELS=models wrong run good.ini
sed 's/^horovod,\(.*\),derived,/horovod,\1,guessed,/' "$LOCKSTEP_MODELS"/framework.csv > models/framework.csv
LOCKSTEP_MODELS=models wrong run good.ini
cp "$LOCKSTEP_MODELS"/framework.csv models
sed -i 's/^measured,\(.*\),0.65,/measured,\1,-0.65,/' models/interval.csv
LOCKSTEP_MODELS=models wrong run good.ini
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "m") m = i } NR > 1 { $m = -$m } 1' models/workload/resnet50.csv > negative.csv
mv negative.csv models/workload/resnet50.csv
LOCKSTEP_MODELS=models wrong run good.ini

wrong run good.ini --set compute.without-source=lamda
cp good.ini source.ini
printf '[compute]\nwithout-source = nobody\n' >> source.ini
try check source.ini
cp good.ini source.ini
printf '[sweep]\ncompute.without-source = lambda, nobody\n' >> source.ini
wrong sweep source.ini
try check good.ini --set compute.without-source=lambda
