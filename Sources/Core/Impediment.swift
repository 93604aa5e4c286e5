/// A condition that prevents normal use of a database although it answers.
package struct Impediment: Error, Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// It lacks events that this instance has seen.
        case behind = "database_behind"
        /// Its clock and this machine's clock are too far apart.
        case clockApart = "clock_apart"
        case full = "database_full"
        case readOnly = "database_read_only"
        /// Commits wait for a standby, and no standby confirms them.
        case noStandby = "standby_missing"
        /// Its log format or one of its schema changes is unknown to this program.
        case outdated = "program_outdated"
    }
    package let kind: Kind
    /// The problem and the remedy, for operators.
    package let sentence: String

    package init(_ kind: Kind, _ sentence: String) {
        self.kind = kind
        self.sentence = sentence
    }

    /// The problem for callers, without details of servers.
    package var publicSentence: String {
        switch kind {
        case .behind:
            "The database lacks events that were in it before; an operator has to act."
        case .clockApart: "The clocks of this instance and of its database are too far apart."
        case .full: "The database's disk is full."
        case .readOnly: "The database accepts no writes now."
        case .noStandby: "No standby confirms what is written."
        case .outdated:
            "This instance runs a release of Deed that is too old for its database; another instance may run a "
                + "newer one."
        }
    }

    /// Whether reads are correct nevertheless.
    package var allowsReads: Bool {
        switch kind {
        case .full, .readOnly, .noStandby: true
        // A newer format may bring other rules.
        case .behind, .clockApart, .outdated: false
        }
    }
}
