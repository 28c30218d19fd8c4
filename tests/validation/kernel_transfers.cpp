#include "kernel_transfers.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/law_transfer.h"

namespace treeline::testing {
namespace {

/// The law of exactly this class, format and family; null if there is none.
const sim::KernelLaw* exact_law(const sim::Calibration& laws, const calibrate::KernelTable& table) {
    const auto found = std::find_if(laws.kernels.begin(), laws.kernels.end(), [&](const sim::CalibratedKernel& known) {
        return known.kernel == table.kernel && known.format == table.format && known.family == table.family;
    });
    return found == laws.kernels.end() ? nullptr : &found->law;
}

void add_carried(const MeasuredDevice& from, const MeasuredDevice& to, CarriedLaws& result) {
    const sim::Calibration transferred = sim::transferred_laws(from.device, to.device);
    for (const calibrate::KernelTable& table : to.tables) {
        const sim::KernelLaw* carried = exact_law(transferred, table);
        const sim::KernelLaw* own = exact_law(*from.device.calibration, table);
        if (own == nullptr) {
            continue;
        }
        CarriedLaw& law = result[calibrate::title_of(table)][{to.name, from.name}];
        law.carries = carried != nullptr;
        const sim::Rates sheet = calibrate::data_sheet_of(to.device, table.kernel, table.format);
        for (const calibrate::KernelSample& sample : table.samples) {
            law.residuals.push_back(std::log(predicted(carried != nullptr ? *carried : *own, sheet, sample) / sample.time));
        }
    }
}

std::string cell(const calibrate::KernelErrors& errors, const ErrorGoal& goal) {
    const std::string text = fmt::format("{:.1f}/{:.1f}", 100.0 * errors.median, 100.0 * errors.p90);
    return goal.is_met_by(errors) ? text : "**" + text + "**";
}

std::string goal_text(const ErrorGoal& goal) {
    const auto per_cent = [](double value) { return value < no_goal ? fmt::format("{:g}", 100.0 * value) : std::string("–"); };
    return goal.median < no_goal || goal.p90 < no_goal ? per_cent(goal.median) + "/" + per_cent(goal.p90) : "";
}

/// "3.5/12", or "H100 5/16, others 4.5/13" where devices have goals of their own.
std::string goals_text(const std::vector<MeasuredDevice>& devices, const std::map<std::string, HeldOutLaw>& of_devices) {
    std::string all;
    std::string last;
    bool differ = false;
    for (const MeasuredDevice& device : devices) {
        if (const auto found = of_devices.find(device.name); found != of_devices.end()) {
            const std::string goal = goal_text(found->second.goal);
            differ |= !all.empty() && goal != last;
            last = goal;
            all += (all.empty() ? "" : ", ") + device.title + " " + goal;
        }
    }
    return differ ? all : last;
}

std::string header_of(const std::vector<std::string>& columns) {
    std::string header = "|", rule = "|";
    for (const std::string& column : columns) {
        header += " " + column + " |";
        rule += "---|";
    }
    return header + "\n" + rule + "\n";
}

std::string held_out_table(const std::vector<MeasuredDevice>& devices, const HeldOutLaws& held_out) {
    std::vector<std::string> columns = {"law (family), format"};
    for (const MeasuredDevice& device : devices) {
        columns.push_back(device.title);
    }
    columns.emplace_back("goal");
    std::string table = header_of(columns);
    for (const auto& [title, of_devices] : held_out) {
        table += "| " + title + " |";
        for (const MeasuredDevice& device : devices) {
            const auto found = of_devices.find(device.name);
            table += found == of_devices.end() ? "  |" : " " + cell(found->second.errors, found->second.goal) + " |";
        }
        table += " " + goals_text(devices, of_devices) + " |\n";
    }
    return table;
}

std::string carried_table(const std::vector<MeasuredDevice>& devices, const CarriedLaws& carried) {
    std::vector<std::string> columns = {"law (family), format"};
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const MeasuredDevice& to : devices) {
        for (const MeasuredDevice& from : devices) {
            if (from.name != to.name) {
                columns.push_back(to.title + " by " + from.title + "'s");
                pairs.emplace_back(to.name, from.name);
            }
        }
    }
    std::string table = header_of(columns);
    for (const auto& [title, of_pairs] : carried) {
        table += "| " + title + " |";
        for (const auto& pair : pairs) {
            const auto found = of_pairs.find(pair);
            if (found == of_pairs.end()) {
                table += "  |";
                continue;
            }
            const std::string text =
                cell(calibrate::errors_of(found->second.residuals), goal_of_carried(pair.first, pair.second));
            table += found->second.carries ? " " + text + " |" : " (" + text + ") |";
        }
        table += "\n";
    }
    return table;
}

std::string summary_table(const CarriedLaws& carried) {
    const auto relatives = grouped(carried, true), others = grouped(carried, false);
    std::string table = header_of({"all of them", "A100 and L40S by each other's (goal 10/25)", "H100 and those (goal 20/45)"});
    for (const auto& [group, residuals] : others) {
        const auto found = relatives.find(group);
        table += "| " + group + " | " +
                 (found == relatives.end() ? "" : cell(calibrate::errors_of(found->second), {0.10, 0.25})) + " | " +
                 cell(calibrate::errors_of(residuals), {0.20, 0.45}) + " |\n";
    }
    return table;
}

}  // namespace

CarriedLaws carried_laws(const std::vector<MeasuredDevice>& devices) {
    CarriedLaws result;
    for (const MeasuredDevice& to : devices) {
        for (const MeasuredDevice& from : devices) {
            if (from.name != to.name) {
                add_carried(from, to, result);
            }
        }
    }
    return result;
}

bool are_relatives(const std::string& one, const std::string& other) { return one != "h100-sxm" && other != "h100-sxm"; }

ErrorGoal goal_of_carried(const std::string& one, const std::string& other) {
    return are_relatives(one, other) ? ErrorGoal{0.10, 0.25} : ErrorGoal{0.20, 0.45};
}

std::string group_of(const std::string& title) {
    const auto begins = [&](const char* word) { return title.starts_with(word); };
    return begins("gemm") || begins("attention") || begins("experts") || begins("scan")
               ? "linear layers, decode attention, experts, scans"
           : begins("prompt-")    ? "prompts"
           : begins("all-reduce") ? "all-reduces on the same kind of link"
                                  : "";
}

std::map<std::string, std::vector<double>> grouped(const CarriedLaws& laws, bool of_relatives) {
    std::map<std::string, std::vector<double>> groups;
    for (const auto& [title, of_pairs] : laws) {
        for (const auto& [pair, law] : of_pairs) {
            const std::string group = group_of(title);
            if (law.carries && !group.empty() && are_relatives(pair.first, pair.second) == of_relatives) {
                groups[group].insert(groups[group].end(), law.residuals.begin(), law.residuals.end());
            }
        }
    }
    return groups;
}

DocumentBlock laws_document(const std::vector<MeasuredDevice>& devices, const HeldOutLaws& held_out,
                            const CarriedLaws& carried) {
    return {
        "cost-model.md", "laws", "treeline_kernel_times",
        summary_table(carried) +
            "\nLaw by law, each device left out and its rows by the laws of the others, median/p90 in %. Goals are 10/25 "
            "between "
            "A100 and L40S, which have the same kind of multiprocessor, and 20/45 with H100; bold misses its goal; in brackets "
            "what a law would miss that is not carried over. Laws that one device alone has cannot be tested so.\n\n" +
            carried_table(devices, carried) +
            "\nOn the measured devices themselves, whole sites left out, median/p90 in %; bold misses its goal:\n\n" +
            held_out_table(devices, held_out)};
}

}  // namespace treeline::testing
