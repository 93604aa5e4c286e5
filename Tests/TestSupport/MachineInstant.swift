import Assembly
package import Core

/// The machine's clock, for tests of the built program.
@Sendable package func machineInstant() -> Instant { systemClock() }
