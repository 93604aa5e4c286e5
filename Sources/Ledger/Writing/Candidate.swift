import Core

/// A command, and what is known so far of the things that its decision needs besides its own
/// stream.
struct Candidate: Sendable {
    let command: Command
    /// The streams of others whom it also concerns.
    var others: Set<Stream> = []
    /// The purchases whose holders must be known.
    var purchases: [HeldPurchase]
    /// The account tokens whose owners must be known.
    var tokens: [String]
    /// The events by which its cause was carried out before.
    var replay: Replay?

    init(_ command: Command) {
        self.command = command
        purchases = command.purchases
        tokens = command.tokens
        others = Set(command.customers.map { command.stream.neighbour($0) })
        for customer in command.customersElsewhere {
            others.insert(command.stream.inOtherEnvironment.neighbour(customer))
        }
    }

    var holderKeys: [HolderKey] {
        purchases.map { HolderKey($0, in: command.stream) }
    }

    var claimedKeys: [TokenKey] {
        command.claimedTokens.map { TokenKey($0, in: command.stream) }
    }

    /// Whether it concerns only its own customer.
    var isAlone: Bool {
        others.isEmpty && purchases.isEmpty && tokens.isEmpty
            && command.claimedTokens.isEmpty
    }

    /// The streams that its decision is known to rest on.
    var streams: Set<Stream> {
        others.union([command.stream, .ofProject(command.stream.project)])
    }

    /// Adds what was found to be lacking.
    mutating func learn(_ lack: Lack) {
        others.formUnion(lack.streams)
        purchases += lack.purchases
        tokens += lack.tokens
        replay = lack.replay ?? replay
    }
}

/// Consecutive events of one stream.
struct Replay: Hashable, Sendable {
    let stream: Stream
    let first: Int64
    let last: Int64
}

/// What must be loaded before a command can be decided.
struct Lack: Error {
    var streams: Set<Stream> = []
    var purchases: [HeldPurchase] = []
    var tokens: [String] = []
    var replay: Replay?
}

/// Why a batch did not decide a command.
enum Undecided: Error {
    case refused(Refusal)
    case lacking(Lack)
    /// Streams with too many new events to take them in while shards are locked.
    case behind(Set<Stream>)
    case fault(Fault)
}
