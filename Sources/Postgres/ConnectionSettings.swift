/// Where the database is and how a session there begins.
package struct ConnectionSettings: Sendable {
    /// What libpq takes: a `postgresql://` URL or `keyword=value` pairs.
    package var url: String
    /// Where the tables lie that statements name.
    package var schema = "deed"
    /// The role whose rights the session has; `nil` keeps those of the login.
    package var role: String?
    /// Shown in PostgreSQL's list of sessions.
    package var applicationName: String
    /// The longest that one statement may take; 0 sets no limit.
    package var statementTimeoutMilliseconds: Int
    /// How long a session that says nothing may hold what it locked; 0 sets no limit. A process that
    /// works says something within milliseconds.
    package var silentLockMilliseconds = 1000
    /// How much longer than a statement the server may say nothing.
    var silenceMarginMilliseconds = 1000
    var connectTimeoutSeconds = 5
    /// What tells that the server has fallen silent, where something does.
    package var pulse: Pulse?
    /// How long a statement may wait for a lock; 0 sets no limit of its own.
    package var lockTimeoutMilliseconds = 0
    /// Whether a server is taken that takes no writes.
    var isAnyServerTaken = false
    /// A plan is made for tables as they are. It may be used for this long after they have changed.
    package var planLifetimeMilliseconds: Int64 = 10_000

    package init(
        url: String, role: String?, applicationName: String = "deed",
        statementTimeoutMilliseconds: Int = 4000
    ) {
        self.url = url
        self.role = role
        self.applicationName = applicationName
        self.statementTimeoutMilliseconds = statementTimeoutMilliseconds
    }

    /// Whether there are several addresses of which the server is taken that was promoted last.
    package var namesSeveralServers: Bool { Addresses(self) != nil }

    /// For what PostgreSQL answers immediately if it answers at all.
    package var forLooking: ConnectionSettings {
        var settings = self
        settings.statementTimeoutMilliseconds = 800
        settings.silenceMarginMilliseconds = 200
        settings.connectTimeoutSeconds = 2
        return settings
    }

    /// A server that works ends a statement in time; one that says nothing for longer hangs.
    var silenceLimitMilliseconds: Int64? {
        if statementTimeoutMilliseconds == 0 { return nil }
        return Int64(statementTimeoutMilliseconds + silenceMarginMilliseconds)
    }

    /// The URL has the last word on everything but the encoding, which the reader relies on. Of several
    /// servers the one is taken that can be written to: a standby may lag behind what was acknowledged.
    var parameters: [(name: String, value: String)] {
        [
            ("connect_timeout", String(connectTimeoutSeconds)), ("keepalives_idle", "15"),
            ("keepalives_interval", "5"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "30000"),
            ("fallback_application_name", applicationName),
            ("target_session_attrs", "primary"), ("dbname", url),
            ("client_encoding", "UTF8"),
        ] + (isAnyServerTaken ? [("target_session_attrs", "any")] : [])
    }

    var sessionCalls: [Call] {
        let timeout = statementTimeoutMilliseconds
        var settings = [
            ("search_path", "pg_catalog"),
            // Every statement of the service finds its rows by an index. A plan that was made while a
            // table was small must not go on reading all of it when it has grown.
            ("enable_seqscan", "off"),
            // Statements are small, and compiling one takes far longer than running it. Without this a
            // statement that has no index to use looks so expensive that it is compiled each time.
            ("jit", "off"),
            // For a call with few rows PostgreSQL would rather plan again, which takes several times as
            // long as to run it by the plan that it has.
            ("plan_cache_mode", "force_generic_plan"),
            ("statement_timeout", String(timeout)),
            // A process that was stopped in the middle of a commit must not hold its locks for ever.
            (
                "idle_in_transaction_session_timeout",
                String(timeout == 0 ? 0 : silentLockMilliseconds)
            ),
        ]
        if lockTimeoutMilliseconds > 0 {
            settings.append(("lock_timeout", String(lockTimeoutMilliseconds)))
        }
        if let role { settings.append(("role", role)) }
        return [ConnectionSettings.durable()]
            + settings.map { ConnectionSettings.set(.text($0), .text($1)) }
    }

    /// An answer is sent after the commit, so a commit must not return before it is safe.
    private static let durable = Statement(
        """
        select set_config('synchronous_commit', 'on', false)
        where current_setting('synchronous_commit') = 'off'
        """)
    private static let set = Statement("select set_config($1, $2, false)")
    /// For a transaction that the process needs long to go on with, though it lives.
    package static let slowTransaction = Statement(
        """
        select set_config(
            'idle_in_transaction_session_timeout', current_setting('statement_timeout'), true)
        """)
    /// For a transaction that has others to go on with where something is locked.
    package static let impatientTransaction = Statement(
        "select set_config('lock_timeout', $1, true)")
    /// For a transaction whose statements take no longer than that, in milliseconds.
    package static let quickTransaction = Statement(
        "select set_config('statement_timeout', $1, true)")
    /// For a transaction that does not wait for the disk: it may be lost with the server, and only together with all
    /// that was committed behind it.
    package static let losableTransaction = Statement(
        "select set_config('synchronous_commit', 'off', true)")
}
