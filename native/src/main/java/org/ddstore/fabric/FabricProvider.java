// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import org.ddstore.transport.Availability;
import org.ddstore.transport.OneSidedChoice;
import org.ddstore.transport.OneSidedOptions;
import org.ddstore.transport.OneSidedTransport;
import org.ddstore.transport.PeerCalls;

/** The selection and the opening of a transport by libfabric, with the devices of this host. */
public final class FabricProvider {
  /** Returns whether this process can currently use libfabric. Throws nothing. */
  public Availability availability() {
    return choose(new OneSidedOptions("", "", "", 0)).availability();
  }

  /**
   * Returns whether this host has devices that serve reads in hardware. Cheap: loads no library, to
   * leave processes that do not use it unaffected. Throws nothing.
   */
  public Availability hardware() {
    return Hardware.OF_THIS_HOST.availability();
  }

  /** Returns the transport that this process would use, within 100 ms. Throws nothing. */
  public OneSidedChoice choose(OneSidedOptions options) {
    FabricLibrary library = FabricLibrary.get();
    return library
        .problem()
        .map(OneSidedChoice::none)
        .orElseGet(
            () ->
                new FabricChooser(library.version(), library::offers, Affinity.OF_THIS_PROCESS)
                    .choose(options, System.getenv()));
  }

  /** Opens a choice of {@link #choose}; processes exchange registrations by the calls. */
  public OneSidedTransport open(OneSidedChoice choice, PeerCalls calls) {
    return new FabricTransport(FabricLibrary.get(), choice, calls);
  }
}
