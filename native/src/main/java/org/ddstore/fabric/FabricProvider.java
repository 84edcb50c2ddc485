package org.ddstore.fabric;

import org.ddstore.transport.Availability;
import org.ddstore.transport.OneSidedChoice;
import org.ddstore.transport.OneSidedOptions;
import org.ddstore.transport.OneSidedProvider;
import org.ddstore.transport.OneSidedTransport;
import org.ddstore.transport.PeerCalls;

/** The provider of the {@code fabric} transport. */
public final class FabricProvider implements OneSidedProvider {
  @Override
  public String name() {
    return "fabric";
  }

  @Override
  public Availability availability() {
    OneSidedChoice choice = choose(new OneSidedOptions("", "", "", 0));
    return choice.isAvailable()
        ? Availability.available(choice.detail())
        : Availability.unavailable(choice.detail());
  }

  @Override
  public Availability hardware() {
    return Hardware.OF_THIS_HOST.availability();
  }

  @Override
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

  @Override
  public OneSidedTransport open(OneSidedChoice choice, PeerCalls calls) {
    return new FabricTransport(FabricLibrary.get(), choice, calls);
  }
}
