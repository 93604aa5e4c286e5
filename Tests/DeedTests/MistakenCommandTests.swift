import Foundation
import TestSupport
import Testing

/// A mistyped command for support work.
private struct Mistake: Sendable {
    let words: [String]
    /// The exit code: 2 for wrong usage, 1 for a refusal by Deed.
    let code: Int32
    /// The text that the error must contain.
    let named: String

    init(_ words: String, _ code: Int32, _ named: String) {
        self.words = words.split(separator: " ").map {
            // The table separates words by spaces, so it needs a substitute for a space in a word.
            String($0).replacing("_BLANK_", with: " ")
        }
        self.code = code
        self.named = named
    }
}

@Suite("Mistakes in commands for one customer", .timeLimit(.minutes(10)))
struct MistakenCommandTests {
    private static let grant = "grant --customer anna --entitlement ad_free --reason r"
    private static let change = "grant change --customer anna --grant g_1 --reason r"
    private static let transfer = "transfer --customer anna --purchase apple:1 --reason r"
    private static let adjust = "adjust --customer anna --currency coins --reason r"
    private static let merge = "customer merge --from anna --reason r"

    private static let mistakes: [Mistake] = [
        Mistake("find", 2, "WORDS"),
        Mistake("find u", 2, "one character"),
        Mistake("find u*", 2, "wildcard"),
        Mistake("find %u", 2, "wildcard"),
        Mistake("find $unclaimed/apple:1", 2, "reserves"),
        Mistake("find uu --limit 0", 2, "--limit"),
        Mistake("find uu --limit 21", 2, "--limit"),
        Mistake("find uu --environment moon", 2, "--environment"),
        Mistake(grant + " --end 2020-01-01T00:00:00Z", 1, "end"),
        Mistake(grant + " --start 2030-01-02T00:00:00Z --end 2030-01-01T00:00:00Z", 1, "end"),
        Mistake(grant + " --end 2030-01-01T00:00:00Z --for P1D", 2, "--for"),
        Mistake(grant + " --after-current", 2, "--for"),
        Mistake(grant + " --after-current --for P1D --start 2030-01-01T00:00:00Z", 2, "--start"),
        Mistake(grant + " --for P0D", 2, "--for"),
        Mistake(grant + " --for soon", 2, "--for"),
        Mistake(grant + " --ticket _BLANK_", 2, "--ticket"),
        Mistake(grant + " --if-version x", 2, "--if-version"),
        Mistake(grant + " --if-version 1,2", 2, "--if-version"),
        Mistake(grant + " --environment moon", 2, "--environment"),
        Mistake("grant --customer anna --entitlement ad_free --reason _BLANK_", 2, "--reason"),
        Mistake("grant --customer anna --entitlement pro", 2, "--reason"),
        Mistake("grant --customer $project/x --entitlement ad_free --reason r", 2, "--customer"),
        Mistake("grant --customer anna --entitlement nothing --reason r", 1, "nothing"),
        Mistake(change, 2, "--for-ever"),
        Mistake(change + " --for P1D --for-ever", 2, "--for-ever"),
        Mistake(change + " --end 2020-01-01T00:00:00Z", 1, "g_1"),
        Mistake("revoke --customer anna --grant g_1 --reason r", 1, "g_1"),
        Mistake("revoke --customer carl --grant g_1 --reason r", 1, "g_1"),
        Mistake(adjust, 2, "--amount"),
        Mistake(adjust + " --amount 0", 1, "amount 0"),
        Mistake(adjust + " --amount many", 2, "--amount"),
        Mistake(transfer, 2, "--to"),
        Mistake(transfer + " --to ben --undo", 2, "--undo"),
        Mistake(transfer + " --to anna", 1, "apple:1"),
        Mistake(transfer + " --to ben --if-version 1", 2, "--if-version"),
        Mistake("block --customer anna --purchase apple:9 --reason r", 1, "apple:9"),
        Mistake("block --customer anna --purchase 9 --reason r", 2, "--purchase"),
        Mistake("unblock --customer anna --purchase apple:1 --reason r", 1, "apple:1"),
        Mistake("unclaimed attach apple:9 --customer anna --reason r", 1, "apple:9"),
        Mistake("grant list --from 2030-01-01T00:00:00Z --to 2020-01-01T00:00:00Z", 2, "--to"),
        Mistake("grant list --limit 0", 2, "--limit"),
        Mistake(merge, 2, "--into"),
        Mistake(merge + " --into anna", 1, "anna"),
        Mistake(merge + " --into ben --undo", 2, "--undo"),
        Mistake(merge + " --into $unclaimed/apple:1", 2, "--into"),
        Mistake(merge + " --undo", 1, "anna"),
        Mistake("key create --role king", 2, "--role"),
        Mistake("key create --role reader --expires 2020-01-01T00:00:00Z", 1, "--expires"),
        Mistake("key create --role reader --environment moon", 2, "--environment"),
        Mistake("key rotate k_none", 1, "k_none"),
        Mistake("project set --support-limit ad_free=P0D", 2, "--support-limit"),
        Mistake("project set --support-limit ad_fre=P1D", 1, "ad_free"),
        Mistake("trail --action grant.gven", 2, "grant.given"),
        Mistake("trail --action purchase.made", 2, "--action"),
        Mistake("trail --from 2030-01-01T00:00:00Z --to 2020-01-01T00:00:00Z", 2, "--to"),
        Mistake("note add --customer anna --text _BLANK_", 2, "--text"),
        Mistake("note remove --customer anna --note n_1 --reason r", 1, "n_1"),
    ]

    @Test("Each mistake is named by its flag or its value, and nothing is recorded")
    func named() throws {
        let owned = try OwnedPurchase(of: "anna")
        let catalog = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../docs/examples/catalog.json").path
        let applied = try owned.deed.run("catalog", "apply", catalog)
        #expect(applied.code == 0, "\(applied.errors)")
        let before = try owned.eventCount()
        for mistake in Self.mistakes {
            let words = mistake.words.joined(separator: " ")
            let refused = try owned.deed.run(mistake.words)
            #expect(refused.code == mistake.code, "\(words): \(refused.errors)\(refused.output)")
            #expect(refused.errors.contains(mistake.named), "\(words): \(refused.errors)")
            #expect(!refused.errors.contains("fault"), "\(words): \(refused.errors)")
        }
        #expect(try owned.eventCount() == before)
    }
}
