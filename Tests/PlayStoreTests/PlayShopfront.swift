import API
import Core
import HTTPServer
import JSON
import Practice
import Service
import StoreAccess
import TestSupport

@testable import PlayStore

/// A service with an app in Google Play. The app's store is on this machine.
final class PlayShopfront: Sendable {
    static let package = "com.example.game"
    let service: TestService
    /// The machine's clock, which determines the dates of Google's answers.
    let machine: TestClock
    let backend: NewKey
    let admin: NewKey

    /// A practice store accepts assertions by its own clock, which is usually the machine's.
    init(
        _ url: String, keyAt address: String? = nil, onOneClock: Bool = false,
        machine: TestClock = TestClock(at: machineInstant())
    ) throws {
        service =
            try onOneClock
            ? TestService() : TestService(startingAt: machine.now, machineClock: machine)
        self.machine = onOneClock ? service.clock : machine
        (backend, admin) = (try service.key(.backend), try service.key(.admin))
        let catalog: JSON = [
            "products": [
                [
                    "store": "google", "id": "pro", "kind": "auto_renewable", "group": "pro",
                    "level": 1, "entitlements": ["pro"],
                ],
                [
                    "store": "google", "id": "premium", "kind": "auto_renewable",
                    "entitlements": ["premium"],
                ],
                [
                    "store": "google", "id": "sounds", "kind": "auto_renewable",
                    "entitlements": ["sounds"],
                ],
                [
                    "store": "google", "id": "film", "kind": "non_renewing", "duration": "P30D",
                    "stacking": "overlap", "entitlements": ["film"],
                ],
                [
                    "store": "google", "id": "level2", "kind": "non_consumable",
                    "entitlements": ["level2"],
                ],
                [
                    "store": "google", "id": "coins.100", "kind": "consumable",
                    "credits": ["coins": 100],
                ],
            ], "entitlements": ["pro": ["title": "Pro"]], "currencies": ["coins": [:]],
        ]
        let applied = service.send("PUT", "/v1/catalog", key: admin, body: catalog.text)
        guard applied.status == 200 else { throw Unexpected(reply: applied.text) }
        try add(Self.package, url, keyAt: address)
    }

    struct Unexpected: Error {
        let reply: String
    }

    /// Adds an app whose store is at that address.
    func add(_ package: String, _ url: String, keyAt address: String? = nil) throws {
        var change = CredentialsChange()
        change.secrets[ServiceAccountKey.member] = account.json(at: address ?? url).text
        change.address = StoreAddress(url)
        _ = try service.ledger.perform(
            service.useCases.apps.setting(
                AppKey(store: .google, id: AppID(package)),
                AppChange(sandboxAccess: .all), change, of: ProjectID("default"), as: .operator,
                by: Sender(actor: Actor("test"), idempotencyKey: nil)))
        try service.apps.reload()
    }

    /// Submits tokens.
    func submit(
        _ tokens: [String], of customer: String = "u1", package: String = package,
        product: String? = nil, as call: String = "receipts", key: NewKey? = nil,
        in environment: Core.Environment? = nil, idempotencyKey: String? = nil
    ) -> Reply {
        // Google's answers differ by their dates, so each call needs a new time.
        machine.advance(byMilliseconds: 1000)
        if service.clock !== machine { service.clock.advance(byMilliseconds: 1000) }
        let all = tokens.map { token -> JSON in
            let one: JSON = ["package": .string(package), "token": .string(token)]
            return one.with("product", product.map(JSON.string))
        }
        return service.send(
            "POST",
            "/v1/customers/\(customer)/\(call)"
                + (environment.map { "?environment=\($0.rawValue)" } ?? ""), key: key ?? backend,
            body: (["google": .array(all)] as JSON).text, idempotencyKey: idempotencyKey)
    }

    func items(_ reply: Reply) throws -> [JSON] { try reply.json["items"]?.array ?? [] }

    /// Judges the items that are due in the queue.
    func work() throws -> IntakeWorker.Work? {
        try IntakeWorker(Submissions(service.intake, apps: service.apps)).work()
    }
}
