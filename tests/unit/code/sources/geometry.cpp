#include <vector>

namespace geo {
namespace detail {
constexpr double tolerance = 1e-9;
}

class Shape;

enum class Colour : int { Red, Green };

template <typename T, int N = 3>
class Vector : public Base<T> {
public:
    Vector() = default;
    explicit Vector(std::initializer_list<T> items);
    virtual ~Vector() {}

    T &operator[](int index) { return items[index]; }
    bool operator==(const Vector &other) const;
    operator bool() const;
    virtual double length() const noexcept override = 0;
    template <typename U> U as() const { return U(); }
    static int count;

    struct Iterator {
        int at;
    };

private:
    T items[N];
};

template <typename T, int N>
Vector<T, N>::Vector(std::initializer_list<T> items) : items{} {
    auto hidden = []() { return 1; };
}

double distance(const Vector<double> &a,
                const Vector<double> &b) {
    const char *text = R"(class Raw { void no(); )";
    return 0;
}

using Point = Vector<double, 2>;

template <typename T>
concept Number = requires(T a) { a + a; };

struct Pair {
    int first, second;
    int sum() const { return first + second; }
};
}  // namespace geo

static int main_count;

int main(int argc, char **argv) {
    return 0;
}
