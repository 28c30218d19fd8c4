// What is thrown where the input is wrong.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace treeline::text {

/// Bad input: the message holds one sentence a line, each naming file and key. The program exits with 2 on it.
class InputError : public std::runtime_error {
public:
    explicit InputError(std::vector<std::string> problems);
    [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }

private:
    std::vector<std::string> problems_;
};

}  // namespace treeline::text
