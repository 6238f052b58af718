#!/bin/bash
ITERS=${1:-2000}
SERVER=10.0.0.1
for tls in rc_x tcp; do
  export UCX_TLS=$tls
  for s in $(seq 1 3) {8..64..8}; do
    echo "size $s"
    ucx_perftest -t ucp_put_lat -s $s -n $ITERS $SERVER
  done
done
for n in 1 2 4; do
  for repetition in 1 2 3; do
    kubectl exec pod1 -- bash -c "ucx_perftest -t ucp_put_bw -T $n -s 1048576 $SERVER"
  done
done
for op in READ WRITE; do
  for backend in UCX LIBFABRIC; do
    nixlbench --etcd_endpoints http://localhost:2379 --backend $backend --op_type $op &
    nixlbench --etcd_endpoints http://localhost:2379 --backend $backend --op_type $op
    wait
  done
done
for args in "-t ucp_get -s 4096" "-t ucp_put_bw -s 8192"; do
  ucx_perftest $args $SERVER
done
SIZES=(1024 4096)
for size in "${SIZES[@]}"; do
  ucx_perftest -t ucp_put_lat -s $size -n $((ITERS / 4)) $SERVER
done
for c in 1 4 16; do
  aiperf profile -m m -u http://localhost:8000 --endpoint-type chat --concurrency $c --request-count $((c * 20))
done
