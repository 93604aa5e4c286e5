import Core
import Crypto
import Evidence
import Histories
import JSON
import Minting
import Practice
import Synchronization
import TestSupport

/// The instant at which tests of the practice store begin.
let opening = instant("2024-01-31T10:00:00Z")
let day: Int64 = 86_400_000

func instant(_ text: String) -> Instant {
    guard let instant = Instant(text: text) else { preconditionFailure("\(text) is no instant") }
    return instant
}

/// The roots that all tests of a run share, because creating keys takes time.
let practice = Authority()
let practiceAccount = ServiceAccount()

extension Instant {
    func days(_ count: Int64) -> Instant { advanced(byMilliseconds: count * day) }
}

/// Returns Deed's catalog for the practice store's example.
func makeCatalog() throws -> Catalog {
    func product(_ name: String, _ terms: Product.Terms, _ unlocks: [String]) throws -> Product {
        Product(
            key: ProductKey(store: .apple, id: try ProductID(name)), terms: terms,
            entitlements: try unlocks.map { try EntitlementID($0) })
    }
    var draft = CatalogDraft()
    for article in Shop.example.products {
        let entry: Product
        switch article.kind {
        case .consumable:
            entry = try product(
                article.id, .consumable(credits: [try CurrencyID("coins"): 100]), [])
        case .nonConsumable: entry = try product(article.id, .nonConsumable, [article.id])
        case .nonRenewing:
            guard let duration = CalendarDuration("P3M") else { preconditionFailure() }
            entry = try product(
                article.id, .nonRenewing(duration: duration, stacking: .overlap), [article.id])
        case .autoRenewable:
            entry = try product(
                article.id,
                .autoRenewable(group: article.group, level: Int64(article.level ?? 1)), ["pro"])
        }
        draft.products.append(entry)
    }
    return try draft.validated()
}

/// Applies Deed's rules to what the practice store signs. Uses the same verifier as for Apple's
/// evidence, with an extra root.
struct Judge {
    let verifier: Verifier
    let catalog: Catalog
    var state = CustomerState()
    private var read = 0

    init(_ authority: Authority = practice) throws {
        let roots = [authority.receipts.root, authority.transactions.root]
        verifier = Verifier(extraRoots: try roots.map { try Certificate(der: $0.der) })
        catalog = try makeCatalog()
    }

    static func terms(_ now: Instant, _ rank: Rank) throws -> Terms {
        let app = TrustedApp(
            id: try AppID(Shop.example.app.bundleID), appleID: Shop.example.app.appleID,
            environments: Set(Environment.allCases))
        return Terms(apps: [app], now: now, rank: rank)
    }

    mutating func take(_ bytes: [UInt8], _ kind: EvidenceKind, at now: Instant) throws {
        let rank: Rank = kind == .notification ? .notification : .clientTransaction
        let statement = try verifier.verify(bytes, as: kind, on: Judge.terms(now, rank))
        state.record(statement.facts, catalog: catalog)
    }

    /// Processes every notification that the store has made since the last call.
    mutating func takeNotifications(of world: PracticeWorld, about customer: String) throws {
        for posting in world.postings[read...] where posting.customer == customer {
            let payload = world.payload(of: posting) { practice.sign($0) }
            try take(Array(practice.sign(payload).utf8), .notification, at: world.now)
        }
        read = world.postings.count
    }
}

/// A store in memory whose machine clock stands still, and the notifications that it sent.
final class PractisedStore: Sendable {
    let store: PracticeStore
    private let log: Log

    /// `answers` contains the result of each notification in turn. The last one repeats.
    init(_ world: PracticeWorld, answers: [String] = ["SUCCESS"]) {
        let log = Log(answers)
        self.log = log
        store = PracticeStore(
            world, authority: practice,
            port: PracticePort(
                now: { machineInstant() }, send: { log.take($1) },
                follow: { at in log.clock.withLock { $0 = at } }))
    }

    /// Each notification's body, and when the store sent it by its own clock.
    var posts: [(at: Instant, body: [UInt8])] { log.posts.withLock { $0 } }

    private final class Log: Sendable {
        let answers: [String]
        let posts = Mutex<[(at: Instant, body: [UInt8])]>([])
        let clock = Mutex(Instant(milliseconds: 0))

        init(_ answers: [String]) { self.answers = answers }

        func take(_ body: [UInt8]) -> String {
            let at = clock.withLock { $0 }
            return posts.withLock { posts in
                posts.append((at, body))
                return answers[min(posts.count, answers.count) - 1]
            }
        }
    }
}

/// Returns the payload of a signed statement, read without verification.
func payload(of signed: String) throws -> JSON {
    let part = signed.split(separator: ".")[1]
    guard let bytes = Base64.url.decode(Array(part.utf8)) else { throw Unreadable() }
    return try JSON.read(bytes)
}

struct Unreadable: Error {}

extension PracticeStore {
    func suffer(_ text: String) throws {
        let trouble = try Trouble(Array(text.utf8))
        try change { $0.make(trouble) }
    }
}
