/// A condition that prevents normal use of a database although the database responds.
package struct Impediment: Trouble, Error, Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The database lacks events that this instance has seen.
        case behind = "database_behind"
        /// The database's clock and this machine's clock are too far apart.
        case clockApart = "clock_apart"
        case full = "database_full"
        case readOnly = "database_read_only"
        /// Commits wait for a standby, but no standby confirms them.
        case noStandby = "standby_missing"
        /// This program does not know the database's log format or one of its schema changes.
        case outdated = "program_outdated"
    }
    package let kind: Kind
    /// The problem, for operators.
    package let sentence: String
    package let remedy: Remedy?

    package init(_ kind: Kind, _ sentence: String, remedy: Remedy? = nil) {
        self.kind = kind
        self.sentence = sentence
        self.remedy = remedy
    }

    /// The problem as callers may see it, without details about servers.
    package var publicSentence: String {
        switch kind {
        case .behind:
            "The database lacks events that it had before; an operator has to act."
        case .clockApart: "The clocks of this instance and of its database are too far apart."
        case .full: "The database's disk is full."
        case .readOnly: "The database does not accept writes now."
        case .noStandby: "No standby confirms writes."
        case .outdated:
            "This instance runs a release of Deed that is too old for its database; another instance may run a "
                + "newer one."
        }
    }

    /// Whether reads are still correct.
    package var allowsReads: Bool {
        switch kind {
        case .full, .readOnly, .noStandby: true
        // For `outdated`: a newer format may come with different rules.
        case .behind, .clockApart, .outdated: false
        }
    }
}
