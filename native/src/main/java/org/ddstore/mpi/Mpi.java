package org.ddstore.mpi;

import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.ddstore.collective.Communicator;
import org.ddstore.nativeio.NativeLibrary;
import org.ddstore.transport.Availability;
import org.ddstore.types.DDStoreException;

/** Reads between ranks by MPI. {@link MpiRun} is for processes that mpirun has started. */
public final class Mpi {
  /** The exit status of a JVM that is ended because MPI does not come back from a call. */
  public static final int HUNG_STATUS = 86;

  private static final String NOT_BUILT =
      "this jar was built without mpi.jar: run native/mpi/build-mpi-jar and build again";
  private static final String NO_LIBRARY =
      "its library libmpi_java.so is not on java.library.path: apt-get install openmpi-bin"
          + " libopenmpi-dev, or name its folder by spark.executor.extraLibraryPath";

  private Mpi() {}

  /** Whether this process can use MPI, without starting it. Throws nothing. */
  public static Availability availability() {
    if (!NativeLibrary.isLoaded()) {
      return Availability.unavailable(
          "needs libddstore.so: " + NativeLibrary.problem().orElse("not loaded"));
    }
    try {
      Optional<MpiBinding> binding = binding();
      if (binding.isEmpty()) {
        return Availability.unavailable(NOT_BUILT);
      }
      String version = binding.get().libraryVersion();
      return OpenMpiVersion.problem(version)
          .map(Availability::unavailable)
          .orElseGet(() -> Availability.available(OpenMpiVersion.shortName(version)));
    } catch (ServiceConfigurationError e) { // classes of two builds beside each other
      return Availability.unavailable("%s (%s)".formatted(NOT_BUILT, e.getMessage()));
    } catch (NoClassDefFoundError e) {
      return Availability.unavailable(missing(e));
    } catch (UnsatisfiedLinkError e) {
      return Availability.unavailable("%s (%s)".formatted(NO_LIBRARY, e.getMessage()));
    } catch (RuntimeException e) {
      return Availability.unavailable(e.toString());
    }
  }

  /** A class that once failed to load says so in other words the next time. */
  private static String missing(NoClassDefFoundError e) {
    return String.valueOf(e.getMessage()).startsWith("Could not initialize class")
        ? NO_LIBRARY
        : "mpi.jar is not on the class path: add it to spark.jars";
  }

  private static Optional<MpiBinding> binding() {
    return ServiceLoader.load(MpiBinding.class, Mpi.class.getClassLoader()).findFirst();
  }

  /**
   * Joins ranks, each in a JVM of its own, to one MPI world, or takes the one that these JVMs are
   * in, and gives the transport of the group that this rank belongs to. Collective over all of
   * {@code ranks}; an error on one is raised on all.
   *
   * @param ranks by which they exchange what MPI has to know; used during the call only
   * @param color of the group; ranks of one color read each other's rows
   * @return closed by the caller
   * @throws org.ddstore.types.FrozenMembershipException if some of these JVMs are in a world that
   *     others are not in, or in one that has lost a rank
   * @throws DDStoreException if MPI is not available on a rank, or two ranks share a JVM
   */
  public static MpiTransport join(Communicator ranks, int color, MpiOptions options) {
    ranks.exchange(
        "MPI availability",
        () -> {
          checkAvailable();
          return new byte[0];
        });
    return binding().orElseThrow().join(ranks, color, options);
  }

  private static void checkAvailable() {
    Availability here = availability();
    if (!here.isAvailable()) {
      throw new DDStoreException("MPI cannot be used here: " + here.detail());
    }
  }

  /** See {@link MpiBinding#launch}. */
  static LaunchedRanks launch(Launch launch, MpiOptions options) {
    checkAvailable();
    return binding().orElseThrow().launch(launch, options);
  }
}
