// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.ddstore.transport.TransportProvider;
import org.ddstore.transport.TransportProviders;
import org.junit.jupiter.api.Test;

/**
 * The rules that every module checks, each on its own classes and on those of the modules that it
 * sees.
 */
public abstract class ArchitectureContract {
  /** The classes that this module and those below it ship. */
  protected static final JavaClasses ALL = ArchitectureRules.main("org.ddstore");

  /** The packages that the root pom lists as those that users see. */
  protected static final List<String> USER_PACKAGES =
      List.of(System.getProperty("ddstore.user.packages").split(",", -1));

  /** The packages of transports in the module native, beside those of their providers. */
  private static final Set<String> NATIVE_BACKENDS =
      Set.of("org.ddstore.fabric", "org.ddstore.mpi");

  private final String[] packages;

  /**
   * @param packages some of the packages that must be among those checked
   */
  protected ArchitectureContract(String... packages) {
    this.packages = packages.clone();
  }

  @Test
  void packagesHaveNoCycles() {
    ArchitectureRules.noCycles().check(ALL);
  }

  @Test
  void publicSignaturesUseNoInternalOrScalaTypes() {
    ArchitectureRules.publicSignaturesAreForUsers().check(ALL);
  }

  /** The lists of packages in the poms, and with them the checks of the API, miss no package. */
  @Test
  void packagesForUsersAreThoseOfThePom() {
    Set<String> listed = new TreeSet<>(USER_PACKAGES);
    listed.retainAll(ArchitectureRules.packages(ALL));
    assertThat(ArchitectureRules.packagesForUsers(ALL)).isEqualTo(listed);
  }

  /**
   * Checks the names of the transports on the class path of this module. Values of annotations,
   * such as the parameters of JMH, are not constants and may be names.
   */
  @Test
  void onlyBackendsKnowTransportsByName() {
    Set<String> names = new HashSet<>();
    Set<String> packages = new HashSet<>(NATIVE_BACKENDS);
    for (TransportProvider provider : TransportProviders.all()) {
      names.add(provider.name());
      packages.add(provider.getClass().getPackageName());
    }
    ArchitectureRules.transportNamesStayInBackends(names, packages).check(ALL);
    ArchitectureRules.noMethodAsksForATransport(names).check(ALL);
  }

  @Test
  void resultsOfJobsDependOnNoSerializer() {
    ArchitectureRules.jobsAreRunIn("org.ddstore.spark.task", "org.ddstore.spark.failure")
        .check(ALL);
  }

  @Test
  void classesOfThisModuleAreChecked() {
    assertThat(ArchitectureRules.packages(ALL)).contains(packages);
  }
}
