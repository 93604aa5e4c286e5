package import Core

/// The entire state of the store. It is deterministic: the same requests at the same instants lead to the same state,
/// including all names in it.
package struct PracticeWorld: Codable, Sendable {
    package internal(set) var now: Instant
    package internal(set) var shop: Shop
    package internal(set) var pace: Pace
    /// The store's environment. An extra root can vouch only for `Sandbox`. Tests change this to forge evidence.
    package var environment = "Sandbox"
    package internal(set) var trouble = Trouble()
    /// How far the clock is ahead of the machine's clock; `nil` if the clock moves only on request.
    package internal(set) var clockOffset: Int64?

    package internal(set) var sales: [Sale] = []
    package internal(set) var subscriptions: [String: Subscription] = [:]
    package internal(set) var postings: [Posting] = []
    /// The number of old notifications that were deleted.
    package internal(set) var forgottenPostings = 0
    /// The notifications that are still to be sent or retried.
    var openPostings: [Int] = []
    package internal(set) var plans: [Plan] = []
    var installs: [String: Install] = [:]
    var asks: [String: Ask] = [:]
    var brokenCards: Set<String> = []
    var withdrawn: Set<String> = []
    var prices: [String: Int64] = [:]
    var massExtensions: [MassExtension] = []
    /// The consumption reports from back ends, by transaction for which a refund was requested.
    package internal(set) var consumption: [String: String] = [:]
    /// The sales in Google Play.
    package internal(set) var play = PlayBooks()
    var lastChange = Instant.distantPast
    var seed: UInt64
    var named: UInt64 = 0
    var fates: Fates

    package init(_ shop: Shop, from start: Instant, pace: Pace = .calendar, seed: UInt64) {
        self.shop = shop
        self.pace = pace
        self.seed = seed
        now = start
        fates = Fates(seed: seed)
    }

    /// The storefront of all customers.
    static let storefront = "USA"

    /// A customer's installation of the app.
    struct Install: Codable, Sendable {
        let appTransaction: String
        let version: String
        let at: Instant
    }

    /// A purchase that waits for a parent's approval.
    struct Ask: Codable, Sendable {
        let customer: String
        let buy: Step
    }

    /// A scheduled step of a scenario.
    package struct Plan: Codable, Sendable {
        package let at: Instant
        package let number: Int
        package let step: Step
    }

    struct MassExtension: Codable, Sendable {
        let request: String
        let product: String
        let at: Instant
        let succeeded: Int64
        let failed: Int64
    }
}

extension PracticeWorld {
    /// Returns a number that is unique in this store.
    mutating func nextNumber() -> UInt64 {
        named += 1
        return named
    }

    /// Creates a name with sixteen digits, like real transaction ids. Different stores create different names.
    mutating func transactionName() -> String {
        String(2_000_000_000_000_000 + seed % 90_000 * 10_000_000_000 + nextNumber())
    }

    mutating func uuid() -> String {
        var bits = Luck(seed: seed ^ (nextNumber() &* 0x9E37_79B9_7F4A_7C15))
        let (high, low) = (bits.next(), bits.next())
        let hex = { (number: UInt64, digits: Int) in
            let text = String(number, radix: 16)
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
        let (first, last) = (hex(high, 16), hex(low, 16))
        let parts = [
            String(first.prefix(8)), String(first.dropFirst(8).prefix(4)),
            "4" + first.suffix(3), "8" + last.prefix(3), String(last.suffix(12)),
        ]
        return parts.joined(separator: "-")
    }

    /// Creates an order number like those in the store's e-mails to customers.
    mutating func orderName() -> String {
        let text = String(seed % 1_000_000 * 1_000_000 + nextNumber(), radix: 36).uppercased()
        return "M" + String(repeating: "0", count: max(0, 10 - text.count)) + text
    }

    package func sale(_ id: String) -> Sale? { index(of: id).map { sales[$0] } }

    func index(of id: String) -> Int? {
        // The search starts at the end, because the newest sales are requested most often.
        sales.lastIndex { $0.id == id }
    }

    package func sales(of customer: String) -> [Sale] { sales.filter { $0.customer == customer } }

    package func subscriptions(of customer: String) -> [Subscription] {
        subscriptions.values.filter { $0.customer == customer }
            .sorted { $0.original < $1.original }
    }

    package var customers: [String] {
        playCustomers.union(installs.keys).sorted()
    }

    /// Returns whether the customer has installed the app from the App Store.
    func isInstalled(by customer: String) -> Bool { installs[customer] != nil }

    /// Records the customer's first installation of the app. A purchase also counts as an installation.
    mutating func install(_ customer: String, version: String? = nil) {
        if installs[customer] != nil { return }
        installs[customer] = Install(
            appTransaction: String(
                704_000_000_000_000_000 + seed % 90_000 * 1_000_000_000 + nextNumber()),
            version: version ?? shop.app.version, at: now)
    }

    /// Changes a transaction, and records the time of the change.
    mutating func changeSale(_ id: String, _ change: (inout Sale) -> Void) {
        guard let index = index(of: id) else { return }
        change(&sales[index])
        sales[index].changed = now
    }

    /// Records that an upgrade replaces the subscription's current period, and the next one if it
    /// has already been charged.
    mutating func markUpgraded(_ original: String) {
        let charged = undoRenewal(of: original)
        for id in [charged, subscriptions[original]?.latest].compactMap(\.self) {
            changeSale(id) { [now] in $0.upgraded = now }
        }
    }

    /// Returns the customer's subscription in that group.
    func subscription(of customer: String, in group: String) -> Subscription? {
        subscriptions.values.first { $0.customer == customer && $0.group == group }
    }

    func price(of article: Article) -> Int64 { prices[article.id] ?? article.price }
}

/// Decides when faults occur. Each kind of fault has a separate random sequence, so that an additional call does not
/// change what happens to notifications.
struct Fates: Codable, Sendable {
    private let seed: UInt64
    var answers: Luck
    var connections: Luck

    init(seed: UInt64) {
        self.seed = seed
        answers = Luck(seed: seed ^ 0x616E_7377_6572)
        connections = Luck(seed: seed ^ 0x636F_6E6E_6563)
    }

    /// Returns the random sequence for the notification with the given number.
    func ofPosting(_ number: Int) -> Luck {
        var mixed = Luck(seed: seed &+ UInt64(number) &* 0xD6E8_FEB8_6659_FD93)
        return Luck(seed: mixed.next())
    }
}

/// A random number generator whose entire state is one number, which can be saved.
struct Luck: RandomNumberGenerator, Codable, Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Decides at random whether an event with the given rate occurs now.
    mutating func strikes(_ rate: Double?) -> Bool {
        guard let rate, rate > 0 else { return false }
        return Double(next() >> 11) / Double(1 << 53) < rate
    }
}
