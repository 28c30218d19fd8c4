// Laws of measured kernels on devices that are taken for unmeasured ones, and the tables of docs/cost-model.md on what laws
// miss.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/kernel_fit.h"
#include "document_block.h"
#include "sim/device.h"

namespace treeline::testing {

inline constexpr double no_goal = 1e9;

/// Goals of |predicted / measured − 1|.
struct ErrorGoal {
    double median = no_goal, p90 = no_goal;
    [[nodiscard]] bool is_met_by(const calibrate::KernelErrors& errors) const {
        return errors.median <= median && errors.p90 <= p90;
    }
};

/// Devices with tables, their names as the documents write them, and their tables.
struct MeasuredDevice {
    std::string name, title;
    sim::Device device;
    std::vector<calibrate::KernelTable> tables;
};

/// A law of one device on the rows of another one.
struct CarriedLaw {
    std::vector<double> residuals;  ///< log(predicted / measured)
    bool carries = true;            ///< false: the product does not carry this law over; these are its errors if it did
};
/// By title of the table, and (device whose rows they are, device whose law it is).
using CarriedLaws = std::map<std::string, std::map<std::pair<std::string, std::string>, CarriedLaw>>;

/// Each device as if it had no tables, by the laws of each other one.
CarriedLaws carried_laws(const std::vector<MeasuredDevice>& devices);

/// A100 and L40S have the same kind of multiprocessor, H100 another one.
bool are_relatives(const std::string& one, const std::string& other);
ErrorGoal goal_of_carried(const std::string& one, const std::string& other);

/// What carried laws are summed up by; empty for what is not.
std::string group_of(const std::string& title);
/// Residuals of laws that carry over, by group.
std::map<std::string, std::vector<double>> grouped(const CarriedLaws& laws, bool of_relatives);

/// Errors of a law, sites held out, and the goal that they have on this device.
struct HeldOutLaw {
    calibrate::KernelErrors errors;
    ErrorGoal goal;
};
/// By title and device.
using HeldOutLaws = std::map<std::string, std::map<std::string, HeldOutLaw>>;

/// The tables of docs/cost-model.md, section 2.3.
DocumentBlock laws_document(const std::vector<MeasuredDevice>& devices, const HeldOutLaws& held_out,
                            const CarriedLaws& carried);

}  // namespace treeline::testing
