// How `treeline study acceptance` shows what it found.
#pragma once

#include <string>

#include "sweeps/acceptance_study.h"

namespace treeline {

std::string acceptance_table(const AcceptanceStudyAnswer& answer);
std::string acceptance_json(const AcceptanceStudyAnswer& answer);
std::string acceptance_csv(const AcceptanceStudyAnswer& answer);
std::string acceptance_html(const AcceptanceStudyAnswer& answer);

}  // namespace treeline
