import Core
import Testing

@Suite("The nearest name")
struct NearestTests {
    @Test(
        "The nearest name takes the fewest changes; a swap of neighbours is one change",
        arguments: [
            ("cions", ["lion", "coins"], "coins"), ("pro", ["pro"], "pro"),
            ("prO", ["plus", "pro"], "pro"), ("pro", ["xpro", "pr"], "xpro"),
            ("gold_monthly", ["gold", "gold_month"], "gold_month"),
            ("na\u{ef}ve", ["na\u{ef}f", "knave"], "na\u{ef}f"),
        ])
    func nearest(_ text: String, _ names: [String], _ expected: String) {
        #expect(Core.nearest(to: text, among: names) == expected)
    }

    @Test("Among equally near names the first is suggested, and none if there are none")
    func ties() {
        #expect(Core.nearest(to: "abc", among: ["abx", "aby"]) == "abx")
        #expect(Core.nearest(to: "ab", among: []) == nil)
    }

    @Test(
        "A name that differs in more than a third is no suggestion",
        arguments: [
            ("zzz", "abc"), ("", "b"), ("version", "products"), ("gold", "goXX"), ("ab", "ax"),
        ])
    func unlike(_ text: String, _ name: String) {
        #expect(Core.nearest(to: text, among: [name]) == nil)
    }

    @Test("Ten thousand long names are compared quickly", .timeLimit(.minutes(20)))
    func bounded() {
        let long = String(repeating: "x", count: 200)
        let names = (0..<10_000).map { "\($0 % 10)\(long)\($0)" }
        #expect(Core.nearest(to: String(repeating: "y", count: 256), among: names) == nil)
        #expect(Core.nearest(to: "z" + long, among: names) == names[0])
    }
}
