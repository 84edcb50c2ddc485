package org.ddstore.transport;

/** A provider of a {@link OneSidedTransport}, found by {@link java.util.ServiceLoader}. */
public interface OneSidedProvider extends TransportProvider {
  /**
   * Returns whether this host has devices that serve reads in hardware. Cheap: loads no library, to
   * leave processes that do not use it unaffected. Throws nothing.
   */
  Availability hardware();

  /**
   * Returns the transport that this process would use, without opening it. The first call blocks
   * for about 100 ms at most. Throws nothing.
   */
  OneSidedChoice choose(OneSidedOptions options);

  /**
   * Opens the selected transport.
   *
   * @param choice available choice from {@link #choose}
   * @param calls connections over which processes exchange their memory registrations
   * @throws org.ddstore.types.DDStoreException if the transport cannot be opened
   */
  OneSidedTransport open(OneSidedChoice choice, PeerCalls calls);
}
