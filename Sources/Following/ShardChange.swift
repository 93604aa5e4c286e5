package import Core

/// What a stretch of one shard's events changed, for those who follow the log.
package struct ShardChange: Sendable {
    package let shard: Shard
    /// The first and the last position of the stretch.
    package let positions: ClosedRange<Int64>
    /// What it changed, each with its last position in the stretch.
    package let subjects: [Subject: Int64]

    package enum Subject: Hashable, Sendable {
        case customer(Stream)
        /// What the project's answers depend on, as of a version of its stream.
        case rules(ProjectID, version: Int64)
        /// What no answer about a customer depends on, as who may ask about the project.
        case keys(ProjectID)
    }

    package init(
        _ shard: Shard, _ positions: ClosedRange<Int64>, _ subjects: [Subject: Int64]
    ) {
        self.shard = shard
        self.positions = positions
        self.subjects = subjects
    }
}

extension ShardChange.Subject {
    /// What an event of that type and version in the stream is about.
    package init(_ stream: Stream, type: String, version: Int64) {
        if !stream.isOfProject {
            self = .customer(stream)
        } else if Event.typesBesideAnswers.contains(type) {
            self = .keys(stream.project)
        } else {
            self = .rules(stream.project, version: version)
        }
    }
}

/// What one commit of this instance changed, and what it saw of others' commits.
package struct Commit: Sendable {
    package var changes: [ShardChange] = []
    /// Customers who were looked at and not changed, with the last sequence of the shard before. Who
    /// was told that nothing had to be done must find it done.
    package var unchanged: [(stream: Stream, sequence: Int64)] = []
    /// The versions of the rules by which was decided.
    package var rules: [(project: ProjectID, version: Int64)] = []
    /// A changed customer as the commit left it.
    package let customer: @Sendable (Stream) -> CustomerSnapshot?

    package init(customer: @escaping @Sendable (Stream) -> CustomerSnapshot?) {
        self.customer = customer
    }
}
