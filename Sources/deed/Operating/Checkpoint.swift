import Commands
import Core
import Crypto
import JSON
import Ledger

/// The ends of all shards at an instant, signed with the installation's key. Forging a checkpoint takes more than write
/// access to the database.
struct Checkpoint {
    private static let format: Int64 = 1

    let madeAt: Instant
    let marks: [ShardMark]

    init(madeAt: Instant, marks: [ShardMark]) {
        self.madeAt = madeAt
        self.marks = marks
    }

    subscript(shard: Shard) -> ShardMark? { marks.first { $0.shard == shard } }

    /// Parses a checkpoint, which one of the keys must have signed.
    init(_ text: String, from name: String, _ keys: [SecretKey]) throws(CommandEnd) {
        func damaged(_ reason: String) -> CommandEnd {
            .refused(code: "checkpoint_invalid", sentence: "\(name) \(reason)")
        }
        guard let json = try? JSON.read(text),
            json["deed_checkpoint"]?.integer == Checkpoint.format,
            let madeAt = json["made_at"]?.string.flatMap({ Instant(text: $0) }),
            let shards = json["shards"]?.array
        else { throw damaged("is not a checkpoint; give a file that deed checkpoint has written.") }
        self.madeAt = madeAt
        marks = shards.compactMap(ShardMark.init)
        if marks.map(\.shard) != Shard.all { throw damaged("does not name every shard.") }
        let signature = json["signature"]?.string.flatMap { Digest32(hex: $0) }
        guard keys.contains(where: { signature == self.signature($0) }) else {
            throw damaged(
                "is not signed with this installation's key: it was changed, or another "
                    + "installation made it.")
        }
    }

    func text(_ key: SecretKey) -> String {
        let lines = marks.map { mark in
            let json: JSON = [
                "shard": .integer(Int(mark.shard.number)), "head": .integer(mark.head),
                "chain": .string(mark.chain.hex),
            ]
            return json.text
        }
        return """
            {"deed_checkpoint":\(Checkpoint.format),"made_at":"\(madeAt.text)","shards":[
            \(lines.joined(separator: ",\n"))
            ],"signature":"\(signature(key).hex)"}

            """
    }

    private func signature(_ key: SecretKey) -> Digest32 {
        let lines = marks.map { "\($0.shard.number) \($0.head) \($0.chain.hex)\n" }
        let message = "deed checkpoint \(Checkpoint.format)\n\(madeAt.text)\n" + lines.joined()
        return key.derived(for: "deed checkpoint").authenticate(Array(message.utf8))
    }
}

extension ShardMark {
    init?(_ json: JSON) {
        guard let number = json["shard"]?.integer, (0..<Int64(Shard.count)).contains(number),
            let head = json["head"]?.integer, head >= 0,
            let chain = json["chain"]?.string.flatMap({ [UInt8](hex: $0) }), chain.count == 32
        else { return nil }
        self.init(shard: Shard(number: Int16(number)), head: head, chain: chain)
    }
}

let checkpointCommand = CommandSpec(
    path: ["checkpoint"],
    summary:
        "Writes a signed record of where the log ends, so that a later audit detects missing events.",
    options: [
        .value("out", "FILE", "the file to write (default, or with -: standard output)"),
        .secretKeyFile,
    ] + Option.database,
    example: "deed checkpoint --out /mnt/elsewhere/deed-checkpoint.json"
) { invocation throws(CommandEnd) in
    let key = try invocation.signingKey()
    try invocation.withAuditor { auditor, clock throws(CommandEnd) in
        let marks = try attempt { () throws(LedgerError) in try auditor.marks() }
        for shard in Shard.all {
            let mark = marks.first { $0.shard == shard }
            let finding = try mark.map { mark throws(CommandEnd) in
                try attempt { () throws(LedgerError) in try auditor.compare(mark) }
            }
            if mark == nil || finding.flatMap(\.self) != nil {
                throw .refused(
                    code: "log_altered",
                    sentence:
                        "Shard \(shard.number) does not end where its row says; run: deed audit")
            }
        }
        let checkpoint = Checkpoint(madeAt: clock(), marks: marks)
        let text = checkpoint.text(key)
        let name = invocation["out"] ?? "-"
        if name == "-" {
            printText(String(text.dropLast()))
            return
        }
        try replaceFile(name, with: text)
        invocation.note(done: "checkpoint")
        let events = marks.reduce(0) { $0 + $1.head }
        invocation.show(
            ["file": .string(name), "events": .integer(events)],
            text:
                "The checkpoint of \(events) events is in \(name). Keep the file where people who can "
                + "write to the database cannot change it; audit with: deed audit --against \(name)"
        )
    }
}
