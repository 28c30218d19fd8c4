// The yardsticks: what memory traffic and an empty launch cost.
#include <string_view>

#include "calibrate/measure/kernel_case.h"

namespace treeline::calibrate {
namespace {

enum class Probe { read, write, copy };

KernelCase probe_case(Probe probe, std::size_t bytes) {
    KernelCase result;
    result.table = "probe";
    result.columns = {{"probe", probe == Probe::read    ? "read"
                                : probe == Probe::write ? "write"
                                                        : "copy"},
                      {"bytes", std::to_string(bytes)}};
    result.largest_piece = bytes;
    result.operand_bytes = probe == Probe::copy ? 2 * bytes : bytes;
    result.prepare = [=](Workspace& workspace) -> KernelRun {
        auto* sum = static_cast<unsigned*>(workspace.scratch(sizeof(unsigned)));
        return [=, &workspace](kernels::Queue queue) {
            const kernels::Backend& backend = workspace.backend();
            switch (probe) {
                case Probe::read:
                    backend.read_probe({workspace.next_input(bytes), bytes, sum}, queue);
                    break;
                case Probe::write:
                    backend.write_probe({workspace.next_output(bytes), bytes, 7}, queue);
                    break;
                case Probe::copy:
                    backend.copy_probe({workspace.next_output(bytes), workspace.next_input(bytes), bytes}, queue);
                    break;
            }
        };
    };
    return result;
}

/// Empty launches, one after the other: calls on a CPU; on a GPU launches from the host, or the nodes of a graph.
KernelCase launch_case(const char* by, int launches) {
    KernelCase result;
    result.table = "launch";
    result.columns = {{"by", by}, {"launches", std::to_string(launches)}};
    result.from_host = std::string_view(by) != "graph";
    result.prepare = [=](Workspace& workspace) -> KernelRun {
        return [=, &workspace](kernels::Queue queue) {
            for (int i = 0; i < launches; ++i) {
                workspace.backend().empty(queue);
            }
        };
    };
    return result;
}

}  // namespace

std::vector<KernelCase> probe_cases(const CaseOptions& options, std::size_t bytes) {
    std::vector<KernelCase> cases;
    for (const Probe probe : {Probe::read, Probe::write, Probe::copy}) {
        cases.push_back(probe_case(probe, bytes));
    }
    const std::vector<int> launches =
        options.thoroughness == Thoroughness::quick ? std::vector{1, 100} : std::vector{1, 10, 100, 1000};
    for (const char* by : options.on_gpu ? std::vector{"stream", "graph"} : std::vector{"call"}) {
        for (const int count : launches) {
            cases.push_back(launch_case(by, count));
        }
    }
    return cases;
}

}  // namespace treeline::calibrate
