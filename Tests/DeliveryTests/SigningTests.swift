import Core
import Crypto
import Synchronization
import Testing

@testable import Delivery

@Suite("Which keys of a webhook sign")
struct SigningTests {
    private static let hour: Int64 = 3_600_000

    /// The sealed row of one webhook.
    private final class Row: WebhookTable {
        private let row = Mutex<SealedWebhook?>(nil)

        func webhookSecrets(
            of project: ProjectID?, _ id: WebhookID?
        ) throws(Fault) -> [SealedWebhook] { [row.withLock { $0 }].compactMap(\.self) }

        func putWebhookSecrets(
            _ sealed: SealedWebhook, from cursor: String?
        ) throws(Fault) -> Bool {
            row.withLock { row in
                if sealed.revision != row?.revision ?? 0 { return false }
                row = SealedWebhook(
                    sealed.name, sealed: sealed.sealed, keyName: sealed.keyName,
                    revision: sealed.revision + 1, version: sealed.version)
                return true
            }
        }

        func forgetWebhook(_ name: WebhookName) throws(Fault) { row.withLock { $0 = nil } }
    }
    private let table = Row()
    private let vault: WebhookVault
    private let name: WebhookName
    private let start = Instant(milliseconds: 1_795_852_800_000)

    init() throws {
        let key = try #require(SecretKey([UInt8](repeating: 7, count: SecretKey.byteCount)))
        vault = WebhookVault(table) { _ in [key] }
        name = WebhookName(try ProjectID("default"), Identifier(prefix: "wh_", random: "1"))
        _ = try vault.open(name, [], version: 1, from: "c")
    }

    private func at(_ hours: Int64) -> Instant {
        start.advanced(byMilliseconds: hours * SigningTests.hour)
    }

    private func rotate(to number: Int64, overlap: Int64, at now: Instant) throws {
        let keys = try vault.rotate(
            name, to: number, version: number, from: "c", overlap: overlap * SigningTests.hour,
            now: now)
        #expect(keys != nil)
    }

    private func signing(at now: Instant) throws -> [Int64] {
        try #require(try vault.secrets(of: name)).signing(at: now).map(\.number)
    }

    @Test("The old key signs until the overlap is over, and not a moment longer")
    func overlap() throws {
        try rotate(to: 2, overlap: 24, at: start)
        let last = at(24).advanced(byMilliseconds: -1)
        #expect(try signing(at: last) == [2, 1])
        #expect(try signing(at: at(24)) == [2])
        let secrets = try #require(try vault.secrets(of: name))
        for (now, count) in [(last, 2), (at(24), 1)] {
            let signatures = secrets.signatures(id: "1-1-00", time: "1", [], at: now)
            for version in ["v1,", "v1a,"] {
                let found = signatures.split(separator: " ").filter { $0.hasPrefix(version) }
                #expect(found.count == count, "\(version) \(now)")
            }
        }
    }

    @Test("Rotations that follow each other end no key before its overlap")
    func many() throws {
        for number in Int64(2)...7 { try rotate(to: number, overlap: 24, at: at(number)) }
        #expect(try signing(at: at(8)) == [7, 6, 5, 4, 3, 2, 1])
        #expect(try signing(at: at(26)) == [7, 6, 5, 4, 3, 2])
        #expect(try signing(at: at(31)) == [7])
        // Without an overlap, all old keys end immediately.
        try rotate(to: 8, overlap: 0, at: at(9))
        #expect(try signing(at: at(9)) == [8])
    }

    @Test("A later rotation prolongs no key")
    func shorter() throws {
        try rotate(to: 2, overlap: 1, at: at(0))
        try rotate(to: 3, overlap: 48, at: at(0))
        #expect(try signing(at: at(2)) == [3, 2])
    }
}
