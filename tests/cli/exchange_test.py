#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes exchange a model's gradients over loopback, and time is counted: exchange_test.py PROGRAM MODELS

Each process adds what it sends, over the bandwidth, to a clock of its own, and sends that clock along; who receives sets its clock to the later of both. So
the times are those of a network of that bandwidth, whatever this machine is doing. `benanza scale` predicts the bandwidth from which two and three processes
are faster than one; here it is found by a sweep. benchmarks/break_even.py does the same by a real clock.
"""
import array
import json
import multiprocessing
import pathlib
import select
import socket
import struct
import subprocess
import sys
import unittest

PROGRAM, MODELS = sys.argv[1], pathlib.Path(sys.argv[2])
T1 = 0.1  # seconds that an iteration takes on one worker, ± 5 %
MODEL = MODELS / "training" / "mobilenet_v3_large.onnx"
MACHINE = MODELS.parent / "machines" / "a100_sxm4_40gb.json"
CHUNK = 1 << 16


def receive(connection, count):
    data = bytearray(count)
    view = memoryview(data)
    while count:
        got = connection.recv_into(view, min(count, CHUNK))
        if not got:
            raise EOFError
        view, count = view[got:], count - got
    return data


def ring_all_reduce(numbers, rank, ranks, to, back, bandwidth):
    """In place: a reduce-scatter and an all-gather, each of ranks - 1 steps. Returns the bytes that were sent, and the time by the clocks."""
    ends = [len(numbers) * i // ranks for i in range(ranks + 1)]
    clock, sent = 0.0, 0
    for step in range(2 * (ranks - 1)):
        out, into = (rank - step) % ranks, (rank - step - 1) % ranks
        data = numbers[ends[out] : ends[out + 1]].tobytes()
        clock += len(data) / bandwidth
        sent += len(data)
        message = struct.pack("<dq", clock, len(data)) + data
        # Sends and receives by turns: a ring in which all send first would wait forever once the buffers are full.
        arrived, left = bytearray(), memoryview(message)
        to.setblocking(False)
        back.setblocking(False)
        wanted = None
        while left or wanted is None or len(arrived) < wanted:
            select.select([back], [to] if left else [], [])
            try:
                if left:
                    left = left[to.send(left[:CHUNK]) :]
            except BlockingIOError:
                pass
            try:
                room = 16 - len(arrived) if wanted is None else min(CHUNK, wanted - len(arrived))
                if room:
                    arrived += back.recv(room)
            except BlockingIOError:
                pass
            if wanted is None and len(arrived) == 16:
                wanted = 16 + struct.unpack("<dq", arrived)[1]
        clock = max(clock, struct.unpack("<dq", arrived[:16])[0])
        part = array.array("f", bytes(arrived[16:]))
        if step < ranks - 1:
            part = array.array("f", map(float.__add__, part, numbers[ends[into] : ends[into + 1]]))
        numbers[ends[into] : ends[into + 1]] = part
    return sent, clock


def take_part(rank, ranks, elements, bandwidths, listener, ports, answers):
    to = socket.create_connection(("127.0.0.1", ports[(rank + 1) % ranks]))
    back, _ = listener.accept()
    result = []
    for bandwidth in bandwidths:
        numbers = array.array("f", [float(rank + 1)]) * elements
        sent, clock = ring_all_reduce(numbers, rank, ranks, to, back, bandwidth)
        right = numbers[0] == numbers[-1] == numbers[elements // 2] == ranks * (ranks + 1) / 2
        result.append((sent, clock, right))
    answers.put((rank, result))


def exchanged(ranks, elements, bandwidths):
    """By bandwidth: what each rank sent, the time of the slowest, whether all sums are right."""
    context = multiprocessing.get_context("fork")
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(ranks)]
    ports = [listener.getsockname()[1] for listener in listeners]
    answers = context.Queue()
    processes = [context.Process(target=take_part, args=(rank, ranks, elements, bandwidths, listeners[rank], ports, answers)) for rank in range(ranks)]
    for process in processes:
        process.start()
    got = dict(answers.get(timeout=300) for _ in processes)
    for process in processes:
        process.join(60)
    for listener in listeners:
        listener.close()
    return [([got[rank][i][0] for rank in range(ranks)], max(got[rank][i][1] for rank in range(ranks)), all(got[rank][i][2] for rank in range(ranks)))
            for i in range(len(bandwidths))]  # fmt: skip


class Exchange(unittest.TestCase):
    def test_the_break_even_of_processes_lies_in_the_predicted_interval(self):
        said = subprocess.run([PROGRAM, "scale", MODEL, "--machine", MACHINE, "--workers", "3", "--iteration", f"{T1 * 0.95:.6g}s,{T1 * 1.05:.6g}s", "--bucket", "1TB", "--json", "-"],
                              check=True, capture_output=True, text=True)  # fmt: skip
        model = json.loads(said.stdout)["models"][0]
        elements = model["gradient_bytes"] // 4
        self.assertAlmostEqual(model["iteration_uncertainty"], 0.05, places=9)
        for least in model["least"]:
            ranks, low, high = least["workers"], *(gbps * 1e9 / 8 for gbps in least["break_even_interval_gbps"])
            middle = 2 * model["gradient_bytes"] / (ranks * T1)  # 2 S / (n T1)
            sweep = [middle * factor for factor in (0.7, 0.9, 1.1, 1.4)]
            found = exchanged(ranks, elements, sweep)
            for sent, _, right in found:
                self.assertTrue(right)
                self.assertAlmostEqual(sum(sent) / ranks, 2 * model["gradient_bytes"] * (ranks - 1) / ranks, delta=ranks * 4)
            times = [T1 + clock for _, clock, _ in found]  # after backward: nothing overlaps
            points = list(zip((1 / bandwidth for bandwidth in sweep), times))
            crossing = next(1 / (x1 + (x0 - x1) * (ranks * T1 - y1) / (y0 - y1)) for (x0, y0), (x1, y1) in zip(points, points[1:]) if y1 <= ranks * T1 <= y0)
            self.assertLess(low, crossing)
            self.assertLess(crossing, high)
            self.assertAlmostEqual(low / crossing, 1 / 1.05, delta=0.01)
            self.assertAlmostEqual(high / crossing, 1 / 0.95, delta=0.01)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
