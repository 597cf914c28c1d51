#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports models that are not in the repository, for compare.py.

  benchmarks/engines/export.py FOLDER [NAME...]        default: the models of the list below; NAME may also be another model of timm or torchvision

Needs a Python with torch 2.15.0, torchvision 0.29.2, timm 1.0.31, transformers 5.24.0, onnx 1.23.2 and onnxscript 0.7.2; --versions prints those that are
there. Nothing is downloaded: models are made from their names or configurations, with the weights that an untrained one has (--seed). Neither engines nor
the libraries here choose by the values of weights, so that these models take as long as trained ones. Batch 1, opset 20, evaluation mode, one file each
with its weights. Images have the size of timm's configuration of the model, 224 x 224 for torchvision. Some sizes of two models were not recorded:
wav2vec2_base_1s has six of its twelve layers here, and qwen2_tiny_s64 has a vocabulary, a middle size and heads of this script's. With them, the count of
multiplications by hand fits the model floors of the table.
"""
import argparse
import importlib.metadata
import pathlib
import sys

PACKAGES = ["torch==2.15.0", "torchvision==0.29.2", "timm==1.0.31", "transformers==5.24.0", "onnx==1.23.2", "onnxscript==0.7.2"]
OPSET = 20
IMAGES = [
    "regnety_008", "mobilevit_s", "ghostnet_100", "levit_128", "efficientformer_l1", "mnasnet_100", "hrnet_w18_small", "deit_tiny_patch16_224", "repvgg_a0",
    "res2net50_26w_4s", "cspresnet50", "poolformer_s12", "mixer_s32_224", "resnext50_32x4d", "mobilenetv4_conv_small", "edgenext_small",
    "xcit_nano_12_p16_224", "dla34", "rexnet_100", "fastvit_t8",
]  # fmt: skip


def tokens(count):
    """Text of one batch."""
    import torch

    return torch.ones(1, count, dtype=torch.long)


def distilbert():
    import transformers

    return transformers.DistilBertModel(transformers.DistilBertConfig()), tokens(128)


def electra():
    """The small one, as its default configuration is."""
    import transformers

    return transformers.ElectraModel(transformers.ElectraConfig()), tokens(128)


def wav2vec2():
    """One second at 16 kHz. 2.45 G multiplications of the windows, 0.24 G of the positions, 0.35 G of each layer: with six, 4.8 G."""
    import torch
    import transformers

    return transformers.Wav2Vec2Model(transformers.Wav2Vec2Config(num_hidden_layers=6)), torch.randn(1, 16000)


def qwen2():
    """64 tokens by 2.82 M weights of each of six layers and 5.24 M of the head: 1.42 G multiplications, and those of attention."""
    import transformers

    config = transformers.Qwen2Config(
        vocab_size=10240, hidden_size=512, intermediate_size=1408, num_hidden_layers=6, num_attention_heads=8, num_key_value_heads=2, use_cache=False
    )
    return transformers.Qwen2ForCausalLM(config), tokens(64)


TRANSFORMERS = {"distilbert_s128": distilbert, "electra_small_s128": electra, "wav2vec2_base_1s": wav2vec2, "qwen2_tiny_s64": qwen2}


def made(name):
    """An untrained model and its input. Raises ValueError."""
    import timm
    import torch
    import torchvision

    if name in TRANSFORMERS:
        return TRANSFORMERS[name]()
    if timm.is_model(name):
        module = timm.create_model(name, pretrained=False)
        return module, torch.randn(1, *module.pretrained_cfg["input_size"])
    if name in torchvision.models.list_models():
        return torchvision.models.get_model(name, weights=None), torch.randn(1, 3, 224, 224)
    raise ValueError(f"neither timm nor torchvision has a model '{name}'")


def first_output(module):
    """The module with one tensor as its result: models of transformers return further ones by name."""
    import torch

    class FirstOutput(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.module = module

        def forward(self, x):
            return self.module(x, return_dict=False)[0]

    return FirstOutput()


def export(name, folder, seed):
    import torch

    torch.manual_seed(seed)
    module, x = made(name)
    if name in TRANSFORMERS:
        module = first_output(module)
    file = folder / f"{name}.onnx"
    with torch.no_grad():
        torch.onnx.export(module.eval(), (x,), str(file), opset_version=OPSET, external_data=False, dynamo=True)
    return file


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, help="where the files are written")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seed", type=int, default=2020, help="of the weights (default: 2020)")
    parser.add_argument("--versions", action="store_true", help="prints the packages' versions and exports nothing")
    arguments = parser.parse_args()
    if arguments.versions:
        for package in PACKAGES:
            name, wanted = package.split("==")
            try:
                print(f"{name} {importlib.metadata.version(name)}, written for {wanted}")
            except importlib.metadata.PackageNotFoundError:
                print(f"{name} is missing, written for {wanted}")
        return 0
    if arguments.folder is None:
        parser.error("FOLDER is missing")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in arguments.names or [*IMAGES, *TRANSFORMERS]:
        try:
            print(export(name, arguments.folder, arguments.seed), flush=True)
        except Exception as error:  # one model that cannot be exported does not cost the others
            failed += 1
            print(f"{name}: {str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
