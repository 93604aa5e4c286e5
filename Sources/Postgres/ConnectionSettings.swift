/// Where the database is, and how a session starts.
package struct ConnectionSettings: Sendable {
    /// For libpq: a `postgresql://` URL or `keyword=value` pairs.
    package var url: String
    /// The schema of the tables named in statements.
    package var schema = "deed"
    /// The role whose rights the session gets; `nil` keeps the login's.
    package var role: String?
    /// Shown in PostgreSQL's list of sessions.
    package var applicationName: String
    /// The time limit of one statement; 0 means none.
    package var statementTimeoutMilliseconds: Int
    /// How long a silent session may hold its locks; 0 for no limit. A working process sends
    /// something within milliseconds.
    package var silentLockMilliseconds = 1000
    /// How long beyond a statement's limit the server may stay silent.
    var silenceMarginMilliseconds = 1000
    var connectTimeoutSeconds = 5
    /// Reports that the server has fallen silent, if anything watches for it.
    package var pulse: Pulse?
    /// How long a statement may wait for a lock; 0 for no separate limit.
    package var lockTimeoutMilliseconds = 0
    /// Whether to accept a server that refuses writes.
    var isAnyServerTaken = false
    /// How long a plan may be used. A plan suits the tables' sizes at the time when it was made.
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

    /// Whether there are several addresses. The most recently promoted server is then used.
    package var namesSeveralServers: Bool { Addresses(self) != nil }

    /// For queries that PostgreSQL answers immediately or not at all.
    package var forLooking: ConnectionSettings {
        var settings = self
        settings.statementTimeoutMilliseconds = 800
        settings.silenceMarginMilliseconds = 200
        settings.connectTimeoutSeconds = 2
        return settings
    }

    /// A working server ends a statement in time. One that stays silent for longer is hanging.
    var silenceLimitMilliseconds: Int64? {
        if statementTimeoutMilliseconds == 0 { return nil }
        return Int64(statementTimeoutMilliseconds + silenceMarginMilliseconds)
    }

    /// The URL overrides everything but the encoding, which decoding depends on. Among several
    /// servers, a writable one is chosen, because a standby may lag behind acknowledged commits.
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
            // Every statement of the service finds its rows by an index. A plan made for a small
            // table must not keep reading the whole table after it has grown.
            ("enable_seqscan", "off"),
            // Statements are small, and compiling one takes far longer than running it. Without this,
            // a statement without an index looks so expensive that it is compiled each time.
            ("jit", "off"),
            // For a call with few rows, PostgreSQL would plan again, which takes several times as
            // long as running the existing plan.
            ("plan_cache_mode", "force_generic_plan"),
            ("statement_timeout", String(timeout)),
            // A process suspended during a commit must not hold its locks forever.
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

    /// Answers are sent after the commit, so a commit must not return before it is durable.
    private static let durable = Statement(
        """
        select set_config('synchronous_commit', 'on', false)
        where current_setting('synchronous_commit') = 'off'
        """)
    private static let set = Statement("select set_config($1, $2, false)")
    /// For a transaction that a live process may continue slowly.
    package static let slowTransaction = Statement(
        """
        select set_config(
            'idle_in_transaction_session_timeout', current_setting('statement_timeout'), true)
        """)
    /// For a transaction that can skip locked rows and continue with others.
    package static let impatientTransaction = Statement(
        "select set_config('lock_timeout', $1, true)")
    /// For a transaction whose statements have this time limit, in milliseconds.
    package static let quickTransaction = Statement(
        "select set_config('statement_timeout', $1, true)")
    /// For a transaction that does not wait for the disk. A server crash may lose it, but only
    /// together with every later commit.
    package static let losableTransaction = Statement(
        "select set_config('synchronous_commit', 'off', true)")
}
