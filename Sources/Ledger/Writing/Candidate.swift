import Core

/// A command, and the data that its decision is known to need besides its own stream.
struct Candidate: Sendable {
    let command: Command
    /// Other streams that the command concerns.
    var others: Set<Stream> = []
    /// Purchases whose holders must be known.
    var purchases: [HeldPurchase]
    /// Account tokens whose owners must be known.
    var tokens: [String]
    /// Purchases in the other environment whose holders must be known.
    var purchasesElsewhere: [HeldPurchase] = []
    var tokensElsewhere: [String] = []
    /// The events of an earlier copy of the command.
    var replay: Replay?
    /// Whether the log must be searched for the events of an earlier copy.
    var asksCause = false
    /// Earlier catalogs that were read for the command.
    let past: PastCatalogs

    init(_ command: Command, _ past: PastCatalogs = PastCatalogs()) {
        self.command = command
        self.past = past
        purchases = command.purchases
        tokens = command.tokens
        others = Set(command.customers.map { command.stream.neighbour($0) })
        for customer in command.customersElsewhere {
            others.insert(command.stream.inOtherEnvironment.neighbour(customer))
        }
    }

    var holderKeys: [HolderKey] {
        let own = purchases.map { HolderKey($0, in: command.stream) }
        if purchasesElsewhere.isEmpty { return own }
        let other = command.stream.inOtherEnvironment
        return own + purchasesElsewhere.map { HolderKey($0, in: other) }
    }

    var tokenKeys: [TokenKey] {
        let own = tokens.map { TokenKey($0, in: command.stream) }
        if tokensElsewhere.isEmpty { return own }
        let other = command.stream.inOtherEnvironment
        return own + tokensElsewhere.map { TokenKey($0, in: other) }
    }

    var claimedKeys: [TokenKey] {
        command.claimedTokens.map { TokenKey($0, in: command.stream) }
    }

    /// Whether the command concerns only its own customer.
    var isAlone: Bool {
        others.isEmpty && purchases.isEmpty && tokens.isEmpty
            && command.claimedTokens.isEmpty
    }

    /// Whether the command may have to be decided several times.
    var mayLack: Bool { !isAlone || asksCause }

    /// Streams on which the decision is known to depend.
    var streams: Set<Stream> {
        others.union([command.stream, .ofProject(command.stream.project)])
    }

    /// Adds the data that a decision lacked.
    mutating func learn(_ lack: Lack) {
        others.formUnion(lack.streams)
        purchases += lack.purchases
        tokens += lack.tokens
        purchasesElsewhere += lack.purchasesElsewhere
        tokensElsewhere += lack.tokensElsewhere
        replay = lack.replay ?? replay
        asksCause = asksCause || lack.isOfCause
    }
}

/// Consecutive events in one stream.
struct Replay: Hashable, Sendable {
    let stream: Stream
    let first: Int64
    let last: Int64
}

/// The data that must be loaded before a command can be decided.
struct Lack: Error {
    var streams: Set<Stream> = []
    var purchases: [HeldPurchase] = []
    var tokens: [String] = []
    /// Purchases in the other environment.
    var purchasesElsewhere: [HeldPurchase] = []
    var tokensElsewhere: [String] = []
    var replay: Replay?
    /// Whether an earlier copy of the command may be in the log but not in memory.
    var isOfCause = false
}

/// Why a batch did not decide a command.
enum Undecided: Error {
    case refused(Refusal)
    case lacking(Lack)
    /// Earlier catalogs must be read, which may take too long while shards are locked.
    case lackingCatalogs([PastNeed])
    /// Some streams have too many new events to load while shards are locked.
    case behind(Set<Stream>)
    case fault(Fault)
}

extension Stream {
    /// Returns another customer's stream in the same project and environment.
    func neighbour(_ customer: CustomerID) -> Stream {
        customer == self.customer
            ? self : Stream(project: project, environment: environment, customer: customer)
    }
}
