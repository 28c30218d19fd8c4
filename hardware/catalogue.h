// Reads descriptions of devices (hardware/gpu, hardware/cpu), software stacks (hardware/stacks) and kernels that a user may
// pick in them (hardware/expert_kernels).
//
// `catalogue` is the folder that holds them ("hardware" in the source tree, "share/treeline/hardware" where installed).
// hardware/README.md explains the format.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "json/described.h"
#include "sim/device.h"
#include "sim/stack.h"

namespace treeline::hardware {

/// Names in the catalogue, sorted. Throws InputError when there is no such folder.
std::vector<std::string> device_names(const std::filesystem::path& catalogue);
std::vector<std::string> stack_names(const std::filesystem::path& catalogue);
std::vector<std::string> expert_kernel_names(const std::filesystem::path& catalogue);
std::vector<std::string> attention_kernel_names(const std::filesystem::path& catalogue);

/// The catalogue's name of the device that its maker or a driver calls so ("NVIDIA GTX 1080 Ti"); empty if there is none.
/// Throws InputError for devices that cannot be priced, with the reason.
std::string device_called(const std::filesystem::path& catalogue, const std::string& name);

/// The device of that name; text with a '/' or that ends in ".json" is the path of a description instead. Throws InputError
/// with every problem of the file (or of the calibration file that a device names), or, for an unknown name, with the nearest
/// ones and all that are known.
json::Described<sim::Device> load_device(const std::filesystem::path& catalogue, const std::string& name_or_path);
/// Every device of the catalogue under its name. Throws InputError for the first one that cannot be read.
std::map<std::string, sim::Device> load_devices(const std::filesystem::path& catalogue);
/// The device without the calibration file that the description may name.
json::Described<sim::Device> load_uncalibrated_device(const std::filesystem::path& catalogue, const std::string& name_or_path);
/// The description of that stack, laid over the one that it extends: a key that both have is its own, and null takes a key
/// away. An engine's plain name ("vllm") is its newest version; for a version that the catalogue lacks, the InputError names
/// the nearest one (hardware/stack_versions.h).
json::Document stack_document(const std::filesystem::path& catalogue, const std::string& name_or_path);
/// The stack; the nearest older version, or else the oldest, stands for one that the catalogue lacks (Stack::stands_for).
/// "vllm@0.14" is "vllm-0.14".
json::Described<sim::Stack> load_stack(const std::filesystem::path& catalogue, const std::string& name_or_path);
/// Kernels of experts that a user may pick in a stack (hardware/expert_kernels).
json::Described<sim::ExpertKernels> load_expert_kernels(const std::filesystem::path& catalogue,
                                                        const std::string& name_or_path);
/// Kernels of attention that a user may pick in a stack (hardware/attention_kernels).
json::Described<sim::AttentionKernels> load_attention_kernels(const std::filesystem::path& catalogue,
                                                              const std::string& name_or_path);

/// The same from an open document, for descriptions inside other files; `name` becomes the device's name. The caller finishes
/// the reader's own keys only through these functions: unknown keys are problems.
sim::Device read_device(json::Reader& reader, std::string name);
sim::Stack read_stack(json::Reader& reader, std::string name);
sim::ExpertKernels read_expert_kernels(json::Reader& reader, std::string name);
sim::AttentionKernels read_attention_kernels(json::Reader& reader, std::string name);

}  // namespace treeline::hardware
