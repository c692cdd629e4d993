#!/usr/bin/env bash
# Runs three nodes that share a Redis, behind nginx, on loopback: `bash examples/cluster/run.sh`. Ctrl+C or SIGTERM ends them all.
#
# Clients connect to http://127.0.0.1:8000/mcp. The nodes are at the ports 8001 to 8003, Redis is at 8004. `PORT=9000` moves all of them.
# `CLUSTER_BIN` names a program that is built already. Redis, nginx and the logs of the nodes use a folder that the script removes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
here=$PWD
port=${PORT:-8000}

# Debian installs nginx into a folder that is in the PATH of root only.
PATH="$PATH:/usr/sbin"
for program in redis-server nginx; do
    command -v "$program" >/dev/null || { echo "$program is missing; in Debian: apt-get install ${program}" >&2; exit 1; }
done

binary=${CLUSTER_BIN:-}
if [[ -z $binary ]]; then
    echo "building the program" >&2
    cargo build --quiet --manifest-path "$here/Cargo.toml"
    target=$(cargo metadata --format-version 1 --no-deps --manifest-path "$here/Cargo.toml" | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
    binary=$target/debug/cluster
fi

folder=$(mktemp -d)
pids=()
names=()

stop() {
    trap - EXIT INT TERM
    # The reverse of the order in which they were started, so that the nodes can say goodbye to Redis.
    for ((at = ${#pids[@]} - 1; at >= 0; at--)); do
        kill -TERM "${pids[at]}" 2>/dev/null || true
        wait "${pids[at]}" 2>/dev/null || true
    done
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

start() {
    local name=$1
    shift
    "$@" >"$folder/$name.log" 2>&1 &
    pids+=($!)
    names+=("$name")
}

fail() {
    echo "$1 has ended:" >&2
    cat "$folder/$1.log" >&2
    exit 1
}

# Waits until the program that was started last accepts connections at a port.
await() {
    local name=$1 at=$2
    until (exec 3<>"/dev/tcp/127.0.0.1/$at") 2>/dev/null; do
        kill -0 "${pids[-1]}" 2>/dev/null || fail "$name"
        sleep 0.05
    done
}

start redis redis-server --port $((port + 4)) --bind 127.0.0.1 --dir "$folder" --save '' --appendonly yes
await redis $((port + 4))

for node in 1 2 3; do
    MCP_REDIS_URL=redis://127.0.0.1:$((port + 4)) start "node$node" \
        "$binary" --http "127.0.0.1:$((port + node))" --trust-proxy 127.0.0.1
    await "node$node" $((port + node))
done

# The committed file has the ports 8000 to 8003.
script=
for at in 0 1 2 3; do
    script+="s/127\.0\.0\.1:800$at\>/127.0.0.1:$((port + at))/;"
done
sed "$script" "$here/nginx.conf" >"$folder/nginx.conf"
start nginx nginx -p "$folder" -c "$folder/nginx.conf" -e stderr
await nginx "$port"

# Where a port was taken, another program has accepted the connection.
for at in "${!pids[@]}"; do
    kill -0 "${pids[at]}" 2>/dev/null || fail "${names[at]}"
done
echo "http://127.0.0.1:$port/mcp is ready, with the nodes ${pids[*]:1:3} behind it; the logs are in $folder"

# Without a node the others go on. Without Redis or nginx the script ends.
set +e
wait -n "${pids[0]}" "${pids[4]}"
for at in 0 4; do
    kill -0 "${pids[at]}" 2>/dev/null || fail "${names[at]}"
done
