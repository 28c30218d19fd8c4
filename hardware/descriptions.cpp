// From JSON to a Device and to kernels that a user picks: which keys there are, which may be left out, and what that means.
#include <map>
#include <optional>
#include <string>

#include "hardware/catalogue.h"
#include "sim/platform.h"
#include "sim/traits.h"

namespace treeline::hardware {
namespace {

using json::Reader;

void read_peaks(Reader reader, sim::Device& device) {
    for (std::size_t i = 0; i < sim::all_number_formats.size(); ++i) {
        const std::string_view format = name_of(sim::all_number_formats[i]);
        if (reader.has(format)) {
            device.peak[i] = reader.flops_per_second(format);
        }
    }
    reader.finish();
}

/// {"vllm": "--some-flag", …}: with what an engine is told; empty without the key.
std::map<std::string, std::string> read_settings(Reader& reader, const char* key) {
    std::map<std::string, std::string> settings;
    if (std::optional<Reader> by_engine = reader.optional_object(key)) {
        for (const char* engine : {"vllm", "sglang"}) {
            if (by_engine->has(engine)) {
                settings[engine] = by_engine->text(engine);
            }
        }
        by_engine->finish();
    }
    return settings;
}

sim::ProtocolCosts read_protocols(Reader reader) {
    const sim::ProtocolCosts costs{reader.seconds("latency"), reader.seconds("bulk_latency"),
                                   reader.bytes_per_second("bandwidth"), reader.bytes_per_second("bulk_bandwidth")};
    reader.finish();
    return costs;
}

sim::OwnAllReduce read_own_all_reduce(Reader& reader) {
    sim::OwnAllReduce own;
    own.latency = reader.seconds("latency");
    own.bandwidth = reader.bytes_per_second("bandwidth");
    own.limit = reader.bytes("limit");
    if (auto two_step = reader.optional_object("two_step")) {
        own.two_step_latency = two_step->seconds("latency");
        own.two_step_bandwidth = two_step->bytes_per_second("bandwidth");
        two_step->finish();
    }
    own.asked_by = read_settings(reader, "asked_by");
    return own;
}

/// The link, and the same again under other names where engines have all-reduces of their own that are run on request.
void read_interconnect(Reader& reader, std::vector<sim::Interconnect>& links) {
    sim::Interconnect link;
    link.name = reader.text("name");
    link.bandwidth = reader.bytes_per_second("bandwidth");
    link.latency = reader.seconds("all_reduce_latency", json::Zero::allowed);
    if (reader.has("domain")) {
        link.domain = reader.ratio("domain", 2.0, 1e6);
    }
    link.all_reduces_of = reader.text_or("all_reduces_of", "");
    if (reader.has("all_reduce")) {
        link.all_reduce = read_protocols(reader.object("all_reduce"));
    }
    if (reader.has("gather")) {
        link.gather = read_protocols(reader.object("gather"));
    }
    links.push_back(link);
    if (reader.has("own_all_reduces")) {
        for (Reader& own : reader.objects("own_all_reduces")) {
            link.name = own.text("name");
            link.own = read_own_all_reduce(own);
            own.finish();
            links.push_back(link);
        }
    }
    reader.finish();
}

/// A chain over recurrent states as somebody published it: every number with its source.
sim::RecurrentVerificationLaw read_stated_chain(Reader& reader) {
    sim::RecurrentVerificationLaw law;
    law.family = reader.text("family");
    law.startup = reader.seconds("startup");
    law.per_token = reader.seconds("per_token");
    law.bandwidth_share = reader.ratio("bandwidth_share", 0.01, 1.0);
    law.overlap = reader.ratio("overlap", 0.0, 1.0);
    reader.finish();
    return law;
}

sim::PowerPoint read_power_point(Reader& reader) {
    const sim::PowerPoint point{reader.watts("limit"), reader.ratio("memory", 0.01, 1.0), reader.ratio("compute", 0.01, 1.0)};
    reader.finish();
    return point;
}

}  // namespace

sim::Device read_device(Reader& reader, std::string name) {
    sim::Device device;
    device.name = std::move(name);
    device.title = reader.text("title");
    device.kind = reader.choice("kind", {"gpu", "cpu"}) == "cpu" ? sim::DeviceKind::cpu : sim::DeviceKind::gpu;
    device.memory = reader.bytes("memory");
    device.bandwidth = reader.bytes_per_second("memory_bandwidth");
    read_peaks(reader.object("peak"), device);

    if (reader.has("cache")) {
        device.cache = reader.bytes("cache");
    }
    if (reader.has("host_speed")) {
        device.host_speed = reader.ratio("host_speed", 0.05, 20.0);
    }
    if (reader.has("compute_capability")) {
        device.compute_capability = reader.ratio("compute_capability", 1.0, 100.0);
    }
    if (reader.has("devices_per_host")) {
        device.devices_per_host = reader.ratio("devices_per_host", 1.0, 72.0);
    }
    if (reader.has("multiprocessors")) {
        device.multiprocessors = reader.ratio("multiprocessors", 1.0, 1e6);
    }
    if (reader.has("latent_heads_per_read")) {
        device.latent_heads_per_read = reader.ratio("latent_heads_per_read", 1.0, 1024.0);
    }
    device.metal = reader.flag_or("metal", false);
    device.usual_stack = reader.text_or("usual_stack", "");
    if (reader.has("gpu_generation")) {
        device.gpu_generation = reader.ratio("gpu_generation", 1.0, 100.0);
    }
    if (reader.has("kernel_gap")) {
        device.kernel_gap = reader.seconds("kernel_gap", json::Zero::allowed);
    }
    if (reader.has("operational_intensity")) {
        device.operational_intensity = reader.flops_per_byte("operational_intensity");
    }
    if (reader.has("reserved_memory")) {
        device.reserved = reader.bytes("reserved_memory", json::Zero::allowed);
    }
    if (reader.has("idle_power")) {
        device.idle_power = reader.watts("idle_power");
    }
    if (reader.has("active_power")) {
        device.active_power = reader.watts("active_power");
    }
    if (reader.has("board_power")) {
        device.board_power = reader.watts("board_power");
    }
    if (reader.has("power_limits")) {
        for (Reader& point : reader.objects("power_limits")) {
            device.power_limits.push_back(read_power_point(point));
        }
    }
    if (reader.has("energy_per_byte")) {
        device.energy_per_byte = reader.joules_per_byte("energy_per_byte");
    }
    if (reader.has("energy_per_flop")) {
        device.energy_per_flop = reader.joules_per_flop("energy_per_flop");
    }
    if (reader.has("price")) {
        device.price = reader.dollars_per_second("price");
    }
    if (reader.has("interconnects")) {
        for (Reader& link : reader.objects("interconnects")) {
            read_interconnect(link, device.interconnects);
        }
    }
    if (reader.has("calibration")) {
        device.calibration_file = reader.text("calibration");
    }
    device.laws_of = reader.text_or("laws_of", "");
    if (reader.has("recurrent_verification")) {
        for (Reader& law : reader.objects("recurrent_verification")) {
            device.recurrent_verification.push_back(read_stated_chain(law));
        }
    }
    reader.finish();
    return device;
}

sim::ExpertKernels read_expert_kernels(json::Reader& reader, std::string name) {
    sim::ExpertKernels kernels;
    kernels.name = std::move(name);
    kernels.title = reader.text("title");
    kernels.weights = reader.choice<sim::NumberFormat>("weights");
    kernels.few_rows = reader.ratio("few_rows", 1.0, 1e9);
    kernels.more_readings = reader.ratio("more_readings", 0.0, 1000.0);
    kernels.flags = read_settings(reader, "flags");
    reader.finish();
    return kernels;
}

sim::AttentionKernels read_attention_kernels(json::Reader& reader, std::string name) {
    sim::AttentionKernels kernels;
    kernels.name = std::move(name);
    kernels.title = reader.text("title");
    if (reader.has("decode_walk")) {
        kernels.decode_walk = reader.seconds("decode_walk");
    }
    if (reader.has("verify_walk")) {
        kernels.verify_walk = reader.seconds("verify_walk");
    }
    if (reader.has("walk_width")) {
        kernels.walk_width = reader.ratio("walk_width", 1.0, 4096.0);
    }
    if (auto walks = reader.optional_object("verify_walks")) {
        for (const std::string& device : walks->keys()) {
            kernels.verify_walks[device] = walks->seconds(device);
        }
        walks->finish();
    }
    if (reader.has("tile_efficiency")) {
        kernels.tile_efficiency = reader.ratio("tile_efficiency", 0.01, 1.0);
    }
    if (reader.has("row_tile")) {
        kernels.row_tile = reader.ratio("row_tile", 1.0, 1024.0);
    }
    kernels.flags = read_settings(reader, "flags");
    reader.finish();
    return kernels;
}

}  // namespace treeline::hardware
