// Devices, software stacks and kernels of experts of the catalogue, as `treeline hardware` shows them.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/device.h"
#include "sim/stack.h"

namespace treeline::reports {

std::string devices_table(const std::vector<sim::Device>& devices);
std::string stacks_table(const std::vector<sim::Stack>& stacks);
std::string expert_kernels_table(const std::vector<sim::ExpertKernels>& all);
std::string attention_kernels_table(const std::vector<sim::AttentionKernels>& all);

/// Keys end in their unit; what the description leaves out is null.
nlohmann::ordered_json device_json(const sim::Device& device);
nlohmann::ordered_json stack_json(const sim::Stack& stack);
nlohmann::ordered_json expert_kernels_json(const sim::ExpertKernels& kernels);
nlohmann::ordered_json attention_kernels_json(const sim::AttentionKernels& kernels);

/// "quantity,value" lines of a description behind `prefix`; nested objects join their keys by dots.
void append_facts_csv(const nlohmann::ordered_json& json, const std::string& prefix, std::string& text);

}  // namespace treeline::reports
