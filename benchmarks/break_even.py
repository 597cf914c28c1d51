#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures from which bandwidth on several workers train faster than one, and compares it with what `benanza scale` predicts.

  benchmarks/break_even.py [--model resnet50] [--batch 4] [--workers 2] [--results FOLDER | --machine FILE] [--program FILE]

Needs Linux, iproute2, and a Python with torch and torchvision (versions in engines/gap.py). Workers are processes, each with one thread, in a network namespace
of their own: `unshare -n` as root, else `unshare -Urn`. Its loopback interface has a rate limit (tc tbf) of the workers' number times the bandwidth,
since what all of them send goes through it. Nothing leaves that namespace. Some eight minutes, and at most 60 GB through the loopback.

  1. T1: iterations of all workers at once without exchange: the interval of the workers' means, and of one worker alone.
  2. The network: all-reduces of the model's gradients at two rates: which share of the bandwidth they reach.
  3. The overhead: by how much longer iterations are that pack and unpack their gradients and exchange one number, so that each waits for the slowest worker.
     DistributedDataParallel exchanges beside the computation. By how much an exchange that goes on all the time slows that is measured, too, and is part of
     the interval: from none of it to all.
  4. Tn over a sweep of bandwidths around the prediction, T1 between them: gradients exchanged after backward (nothing overlaps), and by
     DistributedDataParallel.
  5. The break-even is where Tn is the workers' number times T1, between two bandwidths of the sweep on a line. It has an interval as T1 has one.

Prints the predicted interval and the measured one of both ways; exit code 1 if one measured break-even lies outside of its prediction. `--json FILE` has
all times.
"""
import argparse
import copy
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUCKET = 25 << 20  # DistributedDataParallel's
SWEEP = (0.7, 0.85, 1.0, 1.2, 1.45)  # of the bandwidth that is predicted
ROUNDS = 4
LEAST_ITERATIONS, LEAST_SECONDS = 4, 1.0  # of which a mean is taken


def shell(*command):
    subprocess.run([str(word) for word in command], check=True)


def limit(bytes_a_second):
    """On all that the loopback interface carries; 0 takes the limit away."""
    subprocess.run(["tc", "qdisc", "del", "dev", "lo", "root"], check=False, stderr=subprocess.DEVNULL)
    if bytes_a_second:
        shell("tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", f"{int(bytes_a_second * 8)}bit", "burst", "512kb", "limit", "64mb")


def worker(rank, arguments, orders, answers):
    """Does what the first process orders, and answers with the seconds that one iteration takes; `beside`: its computation, while gradients are exchanged."""
    import torch
    import torch.distributed as dist
    import torchvision

    torch.set_num_threads(1)
    torch.manual_seed(rank)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511", GLOO_SOCKET_IFNAME="lo")
    dist.init_process_group("gloo", rank=rank, world_size=arguments.workers)
    module = torchvision.models.get_model(arguments.model, weights=None).train()
    shared = torch.nn.parallel.DistributedDataParallel(module, bucket_cap_mb=BUCKET / (1 << 20))
    packed = torch.nn.parallel.DistributedDataParallel(copy.deepcopy(module), bucket_cap_mb=BUCKET / (1 << 20))

    def send_nothing(_, bucket):
        done = torch.futures.Future()
        done.set_result(bucket.buffer())
        return done

    packed.register_comm_hook(None, send_nothing)
    pictures, target = torch.randn(arguments.batch, 3, 224, 224), torch.zeros(arguments.batch, dtype=torch.long)
    steps = {network: torch.optim.SGD(network.parameters(), lr=1e-6) for network in (module, packed)}
    parameters = [p for p in module.parameters() if p.requires_grad]
    flat = torch.zeros(sum(p.numel() for p in parameters))
    one, computed = torch.zeros(1), []

    def iteration(how):
        if how == "exchange":
            dist.all_reduce(flat)
            return
        exchange = dist.all_reduce(flat, async_op=True) if how == "beside" else None
        begin = time.perf_counter()
        optimizer = steps[packed if how == "overlap packed" else module]
        optimizer.zero_grad(set_to_none=True)
        network = {"overlap": shared, "overlap packed": packed}.get(how, module)
        torch.nn.functional.cross_entropy(network(pictures), target).backward()
        if how in ("after", "after packed"):
            flat.copy_(torch.cat([p.grad.reshape(-1) for p in parameters]))
            dist.all_reduce(flat if how == "after" else one)
            at = 0
            for p in parameters:
                p.grad.copy_(flat[at : at + p.numel()].view_as(p.grad))
                at += p.numel()
        if how == "overlap packed":
            dist.all_reduce(one)
        optimizer.step()
        computed.append(time.perf_counter() - begin)
        if exchange is not None:
            exchange.wait()

    for how, count in iter(orders.get, None):
        if how != "alone":
            dist.barrier()
        computed.clear()
        begin = time.perf_counter()
        for _ in range(count):
            iteration(how)
        answers.put((rank, statistics.mean(computed) if how == "beside" else (time.perf_counter() - begin) / count))
    dist.destroy_process_group()


class Workers:
    def __init__(self, arguments):
        import torch.multiprocessing as processes

        context = processes.get_context("spawn")
        self.answers = context.Queue()
        self.orders = [context.Queue() for _ in range(arguments.workers)]
        self.started = [context.Process(target=worker, args=(rank, arguments, self.orders[rank], self.answers)) for rank in range(arguments.workers)]
        for process in self.started:
            process.start()
        self.iterations = LEAST_ITERATIONS

    def run(self, how, count=None):
        """Seconds of an iteration, by worker; `alone`: of the first one."""
        asked = self.orders[:1] if how == "alone" else self.orders
        for queue in asked:
            queue.put((how, count or self.iterations))
        return [seconds for _, seconds in sorted(self.answers.get(timeout=240) for _ in asked)]

    def mean(self, how):
        return statistics.mean(self.run(how))

    def end(self):
        for queue in self.orders:
            queue.put(None)
        for process in self.started:
            process.join(20)


def predicted(arguments, t1, overhead, reached, bucket):
    """What `benanza scale` says, in bytes a second: the middle and the interval. The other arguments are intervals in seconds, and of a share."""
    def times(interval):
        return ",".join(f"{seconds * 1e3:.6g}ms" for seconds in interval)

    said = subprocess.run([arguments.program, "scale", ROOT / "examples" / "models" / "training" / f"{arguments.model}.onnx", *(["--results", arguments.results] if arguments.results else ["--machine", arguments.machine]), "--workers", str(arguments.workers),
                           "--iteration", times(t1), "--overhead", times(overhead), "--reached", f"{reached[0]:.6g},{reached[1]:.6g}", "--bucket", bucket, "--json", "-"],
                          check=True, capture_output=True, text=True)  # fmt: skip
    one = json.loads(said.stdout)["models"][0]["least"][-1]
    return one["break_even_gbps"] * 1e9 / 8, [gbps * 1e9 / 8 for gbps in one["break_even_interval_gbps"]]


def crossing(sweep, wanted):
    """The bandwidth at which Tn / T1 is `wanted`, on lines through (1 / bandwidth, Tn / T1); nothing outside of the sweep."""
    points = sorted((1 / bandwidth, ratio) for bandwidth, ratio in sweep)
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if y0 <= wanted <= y1:
            return 1 / (x0 + (x1 - x0) * (wanted - y0) / (y1 - y0))
    return None


def gigabits(rate):
    return "outside" if rate is None else f"{rate * 8e-9:.3f}"


def sweep_of(workers, how, bandwidths, t1):
    """Bandwidths with Tn / T1. T1 is measured beside each, and is added to `t1`."""
    sweep = []
    for bandwidth in bandwidths:
        limit(0)
        beside = workers.run("compute")
        t1 += beside
        limit(bandwidth * len(workers.orders))
        sweep.append((bandwidth, workers.mean(how) / statistics.mean(beside)))
    limit(0)
    return sweep


def measure(arguments):
    shell("ip", "link", "set", "lo", "up")
    n, workers, ok, report = arguments.workers, Workers(arguments), True, {}
    ways = {"after": "1TB", "overlap": "25MB"}  # with the size of buckets
    try:
        for how in ("compute", *ways, *(f"{how} packed" for how in ways)):
            workers.run(how, 2)  # the first backward settles the order of buckets
        workers.iterations = max(LEAST_ITERATIONS, math.ceil(LEAST_SECONDS / workers.mean("compute")))
        t1 = [seconds for _ in range(ROUNDS) for seconds in workers.run("compute")]
        alone = [seconds for _ in range(2) for seconds in workers.run("alone")]
        one, size = statistics.mean(t1), arguments.gradient_bytes
        print(f"T1 {one:.4f} s, between {min(t1):.4f} and {max(t1):.4f}; of one worker alone {min(alone):.4f} s")
        plain = 2 * size / (n * one)
        reached = []
        for rate in (plain * 0.8, plain * 1.25):
            limit(rate * n)
            reached.append(2 * size * (n - 1) / n / statistics.mean(workers.run("exchange", 2)) / rate)
        reached.sort()
        packing, slowed = {how: [] for how in ways}, []
        for _ in range(ROUNDS):
            limit(0)
            beside = workers.run("compute")
            t1 += beside
            for how in ways:
                packing[how].append(max(0.0, workers.mean(f"{how} packed") - statistics.mean(beside)))
            limit(plain * n)  # at which an exchange takes n - 1 iterations
            slowed.append(max(0.0, workers.mean("beside") - statistics.mean(beside)))
        limit(0)
        print(f"all-reduces reach {reached[0]:.3f} to {reached[1]:.3f} of the bandwidth, and slow an iteration beside them by {min(slowed) * 1e3:.1f} to {max(slowed) * 1e3:.1f} ms")
        for how, bucket in ways.items():
            overhead = [min(packing[how]), max(packing[how]) + (max(slowed) if how == "overlap" else 0)]
            middle, _ = predicted(arguments, (min(t1), max(t1)), overhead, reached, bucket)
            sweep = sweep_of(workers, how, [middle * factor for factor in SWEEP], t1)
            one = statistics.mean(t1)
            middle, (low, high) = predicted(arguments, (min(t1), max(t1)), overhead, reached, bucket)
            found = [crossing(sweep, n * t / one) for t in (max(t1), one, min(t1))]
            inside = found[1] is not None and low <= found[1] <= high
            ok = ok and inside
            name = "after backward" if how == "after" else "by DistributedDataParallel"
            print(f"{name}: T1 {min(t1):.4f} to {max(t1):.4f} s, overhead {overhead[0] * 1e3:.1f} to {overhead[1] * 1e3:.1f} ms; predicted {gigabits(low)} to {gigabits(high)} Gbit/s, "
                  f"measured {gigabits(found[1])} ({gigabits(found[0])} to {gigabits(found[2])}): {'inside' if inside else 'outside'}")  # fmt: skip
            print("  Gbit/s " + " ".join(f"{rate * 8e-9:.3f}" for rate, _ in sweep) + "\n  Tn/T1  " + " ".join(f"{ratio:.3f}" for _, ratio in sweep))
            report[how] = {"predicted": [low, middle, high], "overhead": overhead, "measured": found, "sweep": sweep}
    finally:
        limit(0)
        workers.end()
    if arguments.json:
        report |= {"t1": [min(t1), one, max(t1)], "packing": packing, "slowed": slowed, "alone": alone, "reached": reached}
        arguments.json.write_text(json.dumps(report, indent=1))
    return 0 if ok else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2, choices=(2, 3, 4))
    parser.add_argument("--machine", type=pathlib.Path, default=ROOT / "examples" / "machines" / "epyc_7763.json", help="whose proportions of times count")
    parser.add_argument("--results", type=pathlib.Path, help="measured by `benanza bound --training`; their proportions count instead")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build" / "release" / "benanza")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.inside:
        own = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-Urn"]
        os.execvp(own[0], [*own, sys.executable, __file__, *sys.argv[1:], "--inside"])
    expected = json.loads((ROOT / "examples" / "models" / "training" / "expected.json").read_text())
    arguments.gradient_bytes = expected[arguments.model]["gradients_bytes"]
    return measure(arguments)


if __name__ == "__main__":
    sys.exit(main())
