# SPDX-License-Identifier: Apache-2.0
"""Small ONNX files, field by field (onnx.proto), for tests of the program from outside."""
import struct

F32, U8, I8, I32, I64, STRING, BOOL, F16, I4 = 1, 2, 3, 6, 7, 8, 9, 10, 22
_BYTES = {F32: 4, U8: 1, I8: 1, I32: 4, I64: 8, BOOL: 1, F16: 2, I4: 0.5}


def wire(number, value):
    """A field of a protobuf message: a whole number, or bytes, a text or a message."""
    def varint(n):
        return bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def value(name, element, dims=()):
    """What an input or output of a graph is; a size that is a text is a symbol."""
    shape = b"".join(wire(1, wire(2 if isinstance(size, str) else 1, size)) for size in dims)
    return wire(1, name) + wire(2, wire(1, wire(1, element) + wire(2, shape)))


def attribute(name, setting):
    """A whole number, a float, the bytes of a graph, or a list of whole numbers, floats or texts."""
    if isinstance(setting, int):
        return wire(5, wire(1, name) + wire(3, setting) + wire(20, 2))
    if isinstance(setting, float):
        return wire(5, wire(1, name) + bytes([2 << 3 | 5]) + struct.pack("<f", setting) + wire(20, 1))
    if isinstance(setting, bytes):
        return wire(5, wire(1, name) + wire(6, setting) + wire(20, 5))
    if isinstance(setting[0], float):
        return wire(5, wire(1, name) + b"".join(bytes([7 << 3 | 5]) + struct.pack("<f", number) for number in setting) + wire(20, 6))
    field, kind = (9, 8) if isinstance(setting[0], str) else (8, 7)
    return wire(5, wire(1, name) + b"".join(wire(field, each) for each in setting) + wire(20, kind))


def node(op_type, inputs, *outputs, domain="", field=1, **attributes):
    """A node of a graph, or of a function (field 7); an input "" is left out."""
    names = b"".join(wire(1, name) for name in inputs) + b"".join(wire(2, name) for name in outputs)
    settings = b"".join(attribute(name, setting) for name, setting in attributes.items())
    return wire(field, names + wire(3, outputs[0]) + wire(4, op_type) + settings + (wire(7, domain) if domain else b""))


def tensor(name, element, dims, numbers=None):
    """A tensor of the file: i64 or i32 numbers, or zeros."""
    count = 1
    for size in dims:
        count *= size
    width = _BYTES[element]
    data = bytes(int(count * width)) if numbers is None else b"".join(number.to_bytes(width, "little", signed=True) for number in numbers)
    return wire(5, b"".join(wire(1, size) for size in dims) + wire(2, element) + wire(8, name) + wire(9, data))


def graph(name, body, inputs, outputs):
    """Nodes and tensors one after the other; inputs and outputs as `value` has them."""
    return body + wire(2, name) + b"".join(wire(11, each) for each in inputs) + b"".join(wire(12, each) for each in outputs)


def function(name, inputs, outputs, body, domain, opset=21):
    """A function of a model; `body` has nodes of field 7, which may call functions of the same domain."""
    names = b"".join(wire(4, each) for each in inputs) + b"".join(wire(5, each) for each in outputs)
    operator_sets = wire(9, wire(1, "") + wire(2, opset)) + wire(9, wire(1, domain) + wire(2, 1))
    return wire(25, wire(1, name) + names + body + operator_sets + wire(10, domain))


def model(main, opset=21):
    operator_sets = wire(8, wire(1, "") + wire(2, opset)) + wire(8, wire(1, "com.microsoft") + wire(2, 1)) + wire(8, wire(1, "ai.onnx.ml") + wire(2, 3))
    return wire(1, 10) + wire(7, main) + operator_sets


def file_of(body, inputs, outputs, opset=20):
    """A model of one graph."""
    return model(graph("model", body, inputs, outputs), opset)
