import Core
import JSON
import Practice
import Testing

@Suite("What the practice store's Google Play does not allow")
struct PlayRefusalTests {
    /// A refused step: the customer's earlier steps, the step itself, and a part of the refusal.
    struct Row: Sendable, CustomTestStringConvertible {
        let before: [[String]]
        let step: [String]
        let words: String

        init(_ before: String, _ step: String, _ words: String) {
            self.before = before.split(separator: ",").map { Row.parts(String($0)) }
            self.step = Row.parts(step)
            self.words = words
        }

        private static func parts(_ text: String) -> [String] {
            text.split(separator: " ").map(String.init)
        }

        var testDescription: String {
            (before + [step]).map { $0.joined(separator: " ") }.joined(separator: ", ")
        }
    }

    static let rows = [
        Row("", "buy", "buy needs a product"),
        Row("", "buy pro:mothly", "the nearest is pro:monthly"),
        Row("", "buy moon", "sells no moon in Google Play; it sells pro:monthly"),
        Row("", "buy pro:monthly quantity=2", "its quantity must be 1"),
        Row("", "buy level2 quantity=2", "sold one at a time"),
        Row("", "buy level2 offer=trial", "is not a subscription"),
        Row("", "buy pro:monthly offer=moon", "has no offer moon"),
        Row("fail_billing", "buy pro:monthly", "payments of u1 fail"),
        Row("buy pro:monthly", "buy pro:yearly", "owns pro already; see: change, cancel"),
        Row("buy pro:monthly,cancel", "buy pro:monthly", "see: top-up, resubscribe"),
        Row("buy pro:monthly pending", "buy pro:monthly", "see: approve, decline"),
        Row(
            "buy pro:monthly,finish,cancel,days 40", "buy pro:monthly offer=trial",
            "u1 had pro before"),
        Row("buy sequel", "buy sequel", "already owns sequel"),
        Row("", "buy sequel pending", "is a pre-order"),
        Row("", "approve", "is waiting for payment"), Row("", "cancel", "has no subscription"),
        Row("buy pro:monthly,cancel", "cancel", "cancelled already"),
        Row("buy pro:prepaid-month", "cancel", "nothing to cancel"),
        Row("buy pro:instalments,cancel", "cancel", "cancelled already"),
        Row("buy pro:monthly", "resume", "neither cancelled nor paused"),
        Row("buy pro:monthly", "pause days=6", "7 to 92 days"),
        Row("buy pro:yearly", "pause", "more than three months"),
        Row("buy pro:prepaid-month", "pause", "that renews can be paused"),
        Row("buy pro:instalments", "pause", "instalments cannot be paused"),
        Row("buy pro:monthly offer=trial", "pause", "free trial cannot be paused"),
        Row("buy pro:monthly,cancel", "pause", "only an active subscription that renews"),
        Row("buy pro:monthly", "recover", "no payment of the subscription failed"),
        Row("buy pro:monthly,cancel", "hold", "that renews can be put on hold"),
        Row("buy pro:monthly", "top_up", "only a prepaid one"),
        Row("buy pro:prepaid-month,finish,days 40", "top_up", "buy it again"),
        Row("buy pro:monthly", "change pro:monthly", "has pro:monthly already"),
        Row("buy pro:monthly,hold", "change premium:monthly", "only an active one can be changed"),
        Row(
            "buy pro:monthly", "change pro:prepaid-month when=deferred",
            "changes to or from it cannot be deferred"),
        Row("buy pro:instalments", "change premium:monthly", "the commitment"),
        Row(
            "buy pro:monthly,cancel", "change premium:monthly when=deferred",
            "only an item that renews can be changed later"),
        Row(
            "buy pro:monthly", "change premium:monthly when=deferred pending",
            "its payment cannot be pending"),
        Row("buy pro:yearly", "add_on sounds:monthly", "all items of a purchase have one period"),
        Row("buy pro:prepaid-month", "add_on sounds:monthly", "can have add-ons"),
        Row("buy pro:monthly", "add_on pro:yearly", "owns pro already"),
        Row(
            "buy pro:monthly,change premium:monthly when=deferred", "add_on sounds:monthly",
            "add items after it"),
        Row("buy pro:monthly,add_on sounds:monthly", "change premium:monthly", "has 2 items"),
        Row("buy pro:monthly", "resubscribe", "nothing to renew"),
        Row(
            "buy pro:monthly,cancel", "resubscribe in_store",
            "has not expired, so the Play Store app"),
        Row("buy pro:monthly", "defer", "by 1 to 365 days"),
        Row("buy pro:prepaid-month", "defer days=3", "that renews can be deferred"),
        Row("buy pro:monthly", "consent", "is waiting for consent"),
        Row("", "raise_price pro:monthly price=10", "above the current one"),
        Row("buy pro:monthly", "refund pro quantity=1", "has no quantity"),
        Row("buy level2", "refund level2 quantity=1", "only one level2 was bought"),
        Row(
            "buy coins.100 quantity=3", "refund coins.100 quantity=1 keep_access",
            "leave out --keep-access"),
        Row("buy level2,refund level2", "refund level2", "nothing is left to refund"),
        Row("buy pro:monthly pending", "refund", "has not been paid for"),
        Row("buy pro:monthly pending", "cancel", "is pending"),
        Row("", "share", "Google Play has no share"),
        Row("", "buy level2 version=1.0", "buy takes no version in Google Play"),
        Row("", "pause store=apple", "the App Store has no pause"),
    ]

    @Test("Each step is refused with its reason, and leaves nothing behind", arguments: rows)
    func refused(_ row: Row) throws {
        var life = try PlayedLife()
        for step in row.before {
            if step[0] == "days" {
                life.advance(days: Int64(step[1]) ?? 0)
            } else {
                _ = try life.world.perform(try read(step))
            }
        }
        let standings = life.world.standings(of: "u1")
        do {
            _ = try life.world.perform(try read(row.step))
            Issue.record("it was not refused")
        } catch let error as PracticeError {
            #expect("\(error)".contains(row.words), "\(error)")
        }
        #expect(life.world.standings(of: "u1") == standings)
    }

    /// Reads `buy pro:monthly quantity=2 pending` as a step of u1.
    private func read(_ words: [String]) throws -> Step {
        let act = try #require(Step.Act(rawValue: words[0]))
        var step = Step(act, customer: act == .raisePrice ? nil : "u1")
        step.store = .google
        for word in words.dropFirst() {
            let sides = word.split(separator: "=").map(String.init)
            switch (sides[0], sides.count) {
            case ("quantity", 2): step.quantity = Int64(sides[1])
            case ("days", 2): step.days = Int64(sides[1])
            case ("price", 2): step.price = Int64(sides[1])
            case ("offer", 2): step.offer = sides[1]
            case ("version", 2): step.version = sides[1]
            case ("when", 2): step.when = Step.Start(rawValue: sides[1])
            case ("store", 2): step.store = Step.Seller(rawValue: sides[1])
            case ("pending", 1): step.pending = true
            case ("in_store", 1): step.inStore = true
            case ("keep_access", 1): step.keepAccess = true
            default: step.product = word
            }
        }
        return step
    }
}
