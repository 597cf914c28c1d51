#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures from which bandwidth on several workers train faster than one, and compares it with what `benanza scale` predicts.

  benchmarks/break_even.py [--model resnet50] [--batch 4] [--workers 2] [--results FOLDER | --machine FILE] [--program FILE]

Needs Linux, iproute2, and a Python with torch and torchvision (versions in engines/gap.py). Workers are processes, each with one thread, in a network namespace
of their own: `unshare -n` as root, else `unshare -Urn`. Its loopback interface has a rate limit (tc tbf) of the workers' number times the bandwidth,
since what all of them send goes through it. Nothing leaves that namespace. Some ten minutes, and at most 100 GB through the loopback.

  1. T1: iterations of all workers at once without exchange, and of one worker alone. What forward, backward and the optimizer take of them.
  2. The overhead of gradients that are exchanged after backward: an iteration with its exchange, less an iteration, less an exchange, without a rate limit.
     DistributedDataParallel exchanges beside the computation. Its overhead is by how much longer iterations are that pack and unpack their gradients and
     exchange one number, so that each waits for the slowest worker. By how much an exchange that goes on all the time slows the computation is measured, too,
     and is part of the interval: from none of it to all.
  3. The network: all-reduces of the model's gradients at rates around the break-even that 1 and 2 give: which share of the bandwidth they reach.
  4. The prediction, from 1 to 3 alone. It is printed before anything below is measured. The intervals of T1 and of the overhead that it is made of are those
     of means (95 %, bootstrap over rounds), not the ranges of single rounds.
  5. Tn over several sweeps of bandwidths around the prediction, in random order, T1 before each: gradients exchanged after backward (nothing overlaps), and
     by DistributedDataParallel.
  6. The measured break-even is where the line of Tn / T1 over 1 / bandwidth (least squares over all sweeps) reaches the number of workers. Its interval is a
     bootstrap over the points (95 %).

Prints both for both ways; exit code 1 if one measured break-even lies outside of its prediction. `--json FILE` has all times.
"""
import argparse
import copy
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUCKET = 25 << 20  # DistributedDataParallel's
SWEEP = (0.8, 0.9, 1.0, 1.12, 1.25)  # times the bandwidth that is predicted
SWEEPS, ROUNDS = 4, 8
LEAST_ITERATIONS, LEAST_SECONDS = 4, 2.0  # for one mean
NAMES = {"after": "after backward", "overlap": "by DistributedDataParallel"}


def shell(*command):
    subprocess.run([str(word) for word in command], check=True)


def limit(bytes_a_second):
    """On all that the loopback interface carries; 0 takes the limit away."""
    subprocess.run(["tc", "qdisc", "del", "dev", "lo", "root"], check=False, stderr=subprocess.DEVNULL)
    if bytes_a_second:
        shell("tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", f"{int(bytes_a_second * 8)}bit", "burst", "512kb", "limit", "64mb")


def worker(rank, arguments, orders, answers):
    """Does what the first process orders, and answers with the seconds that one iteration takes; `beside`: its computation, while gradients are exchanged;
    `phases`: what forward, backward and the optimizer take of it."""
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
    one, computed, phases = torch.zeros(1), [], []

    def iteration(how):
        if how == "exchange":
            dist.all_reduce(flat)
            return
        exchange = dist.all_reduce(flat, async_op=True) if how == "beside" else None
        begin = time.perf_counter()
        optimizer = steps[packed if how == "overlap packed" else module]
        optimizer.zero_grad(set_to_none=True)
        network = {"overlap": shared, "overlap packed": packed}.get(how, module)
        loss = torch.nn.functional.cross_entropy(network(pictures), target)
        forward = time.perf_counter()
        loss.backward()
        backward = time.perf_counter()
        if how == "after":
            flat.copy_(torch.cat([p.grad.reshape(-1) for p in parameters]))
            dist.all_reduce(flat)
            at = 0
            for p in parameters:
                p.grad.copy_(flat[at : at + p.numel()].view_as(p.grad))
                at += p.numel()
        if how == "overlap packed":
            dist.all_reduce(one)
        optimizer.step()
        end = time.perf_counter()
        computed.append(end - begin)
        phases.append((forward - begin, backward - forward, end - backward))
        if exchange is not None:
            exchange.wait()

    for how, count in iter(orders.get, None):
        if how != "alone":
            dist.barrier()
        computed.clear(), phases.clear()
        begin = time.perf_counter()
        for _ in range(count):
            iteration(how)
        taken = {"beside": statistics.mean(computed), "phases": [statistics.mean(each) for each in zip(*phases)]} if computed else {}
        answers.put((rank, taken.get(how, (time.perf_counter() - begin) / count)))
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


def predicted(arguments, t1, phases, overhead, reached, bucket):
    """What `benanza scale` says, in bytes a second: the middle and the interval. `phases` are three times in seconds, the others intervals of seconds and of
    a share."""
    def times(several):
        return ",".join(f"{seconds * 1e3:.6g}ms" for seconds in several)

    said = subprocess.run([arguments.program, "scale", ROOT / "examples" / "models" / "training" / f"{arguments.model}.onnx", *(["--results", arguments.results] if arguments.results else ["--machine", arguments.machine]), "--workers", str(arguments.workers),
                           "--iteration", times(t1), "--phases", times(phases), "--overhead", times(overhead), "--reached", f"{reached[0]:.6g},{reached[1]:.6g}", "--bucket", bucket, "--json", "-"],
                          check=True, capture_output=True, text=True)  # fmt: skip
    one = json.loads(said.stdout)["models"][0]["least"][-1]
    return one["break_even_gbps"] * 1e9 / 8, [gbps * 1e9 / 8 for gbps in one["break_even_interval_gbps"]]


def interval(samples, figure):
    """95 % of a figure of samples, by resampling."""
    chance = random.Random(2020)
    figures = sorted(figure(chance.choices(samples, k=len(samples))) for _ in range(2000))
    return [figures[int(len(figures) * share)] for share in (0.025, 0.975)]


def crossing(points, wanted):
    """The bandwidth at which the line through (1 / bandwidth, Tn / T1) is `wanted`."""
    slope, begin = statistics.linear_regression([1 / bandwidth for bandwidth, _ in points], [ratio for _, ratio in points])
    return slope / (wanted - begin)


def gigabits(rates):
    return " to ".join(f"{rate * 8e-9:.3f}" for rate in rates)


def sweep_of(workers, how, bandwidths):
    """Bandwidths with Tn / T1; T1 is measured before each Tn."""
    sweep = []
    for bandwidth in bandwidths:
        limit(0)
        one = workers.mean("compute")
        limit(bandwidth * len(workers.orders))
        sweep.append((bandwidth, workers.mean(how) / one))
    limit(0)
    return sweep


def measure(arguments):
    shell("ip", "link", "set", "lo", "up")
    n, workers, ok, report = arguments.workers, Workers(arguments), True, {}
    ways = {"after": "1TB", "overlap": f"{BUCKET >> 20}MiB"}  # with the size of buckets
    try:
        for how in ("compute", "overlap packed", *ways):
            workers.run(how, 2)  # the first backward settles the order of buckets
        workers.iterations = max(LEAST_ITERATIONS, math.ceil(LEAST_SECONDS / workers.mean("compute")))
        t1 = [workers.mean("compute") for _ in range(ROUNDS)]
        alone = [seconds for _ in range(2) for seconds in workers.run("alone")]
        one, size = statistics.mean(t1), arguments.gradient_bytes
        print(f"T1 {one:.4f} s; that of one worker alone {min(alone):.4f} s")
        plain = 2 * size / (n * one)
        phases = [statistics.mean(each) for each in zip(*(times for _ in range(ROUNDS) for times in workers.run("phases")))]
        packing, slowed = {how: [] for how in ways}, []
        for _ in range(ROUNDS):
            limit(0)
            beside = workers.mean("compute")
            t1.append(beside)
            with_exchange, exchange = workers.mean("after"), workers.mean("exchange")
            packing["after"].append(with_exchange - exchange - beside)
            packing["overlap"].append(workers.mean("overlap packed") - beside)
            limit(plain * n)  # at which an exchange takes n - 1 iterations
            slowed.append(workers.mean("beside") - beside)
        t1_interval, slowed_most = interval(t1, statistics.mean), interval(slowed, statistics.mean)[1]
        print(f"an exchange slows an iteration beside it by {slowed_most * 1e3:.1f} ms at most")
        for how, bucket in ways.items():
            least, most = interval(packing[how], statistics.mean)
            overhead = [max(0.0, least), max(0.0, most + (slowed_most if how == "overlap" else 0))]
            expected, _ = predicted(arguments, t1_interval, phases, overhead, (1, 1), bucket)
            reached = []
            for factor in SWEEP[::2] * 2:
                limit(expected * factor * n)
                reached.append(2 * size * (n - 1) / n / workers.mean("exchange") / (expected * factor))
            middle, (low, high) = predicted(arguments, t1_interval, phases, overhead, (min(reached), max(reached)), bucket)
            report[how] = {"predicted": [low, middle, high], "overhead": overhead, "reached": reached, "sweeps": []}
            print(f"{NAMES[how]}: T1 {t1_interval[0]:.4f} to {t1_interval[1]:.4f} s, overhead {overhead[0] * 1e3:.1f} to {overhead[1] * 1e3:.1f} ms, "
                  f"{min(reached):.3f} to {max(reached):.3f} of the bandwidth reached; predicted {gigabits((low, high))} Gbit/s", flush=True)  # fmt: skip
        for _ in range(SWEEPS):
            for how in ways:
                report[how]["sweeps"].append(sweep_of(workers, how, [report[how]["predicted"][1] * factor for factor in random.sample(SWEEP, len(SWEEP))]))
        for how in ways:
            points = [point for sweep in report[how]["sweeps"] for point in sweep]
            low, _, high = report[how]["predicted"]
            measured, around = crossing(points, n), interval(points, lambda some: crossing(some, n))
            inside = low <= measured <= high
            ok = ok and inside
            report[how] |= {"measured": measured, "interval": around, "inside": inside}
            print(f"{NAMES[how]}: measured {gigabits([measured])} ({gigabits(around)}) Gbit/s: {'inside' if inside else 'outside'}")
            for sweep in report[how]["sweeps"]:
                print("  " + ", ".join(f"{gigabits([bandwidth])}: {ratio:.3f}" for bandwidth, ratio in sorted(sweep)))
    finally:
        limit(0)
        workers.end()
    if arguments.json:
        report |= {"t1": t1, "phases": phases, "packing": packing, "slowed": slowed, "alone": alone}
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
