import Assembly
package import Core

/// Returns the machine's time, for tests of the built program.
@Sendable package func machineInstant() -> Instant { systemClock() }
