// json_get FILE [POINTER]: fails unless FILE is JSON; prints the value at the pointer ("/summary/points"), texts without
// quotes.
#include <fstream>
#include <iostream>

#include <nlohmann/json.hpp>

int main(int argc, char** argv) {
    try {
        std::ifstream file(argc > 1 ? argv[1] : "");
        const auto json = nlohmann::ordered_json::parse(file);
        if (argc > 2) {
            const auto& value = json.at(nlohmann::ordered_json::json_pointer(argv[2]));
            std::cout << (value.is_string() ? value.get<std::string>() : value.dump()) << '\n';
        }
        return 0;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
