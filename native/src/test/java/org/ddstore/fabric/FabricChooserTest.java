// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.ddstore.transport.OneSidedChoice;
import org.ddstore.transport.OneSidedOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The choice of provider and interface on hosts that are described here. */
class FabricChooserTest {
  private static final OneSidedOptions NO_WISH = new OneSidedOptions("", "", "10.0.0.1", 0);
  private static final FabricOffer TCP_ETH0 = new FabricOffer("net", "eth0", "2", "");
  private static final FabricOffer TCP_LO = new FabricOffer("net", "lo", "2", "");

  @TempDir private Path host;

  private FabricChooser chooser(FabricOffer... offers) {
    return new FabricChooser(
        "libfabric 1.17",
        address -> address.isEmpty() ? List.of(offers) : withoutLoopback(offers),
        new Affinity(host, host.resolve("status")));
  }

  private static List<FabricOffer> withoutLoopback(FabricOffer... offers) {
    List<FabricOffer> bound = new ArrayList<>(List.of(offers));
    bound.remove(TCP_LO);
    return bound;
  }

  private FabricOffer verbs(String device, String pci, int node) throws IOException {
    write("bus/pci/devices/%s/numa_node".formatted(pci), node + "\n");
    write("devices/system/node/node0/cpulist", "0-1\n");
    write("devices/system/node/node1/cpulist", "2,3\n");
    write("status", "Name:\tjava\nCpus_allowed_list:\t2-3\n");
    return new FabricOffer("verbs;ofi_rxm", device, "2", pci);
  }

  private void write(String file, String text) throws IOException {
    Path path = host.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  @Test
  void bindsSoftwareToTheAddressOfSpark() {
    OneSidedChoice choice = chooser(TCP_LO, TCP_ETH0).choose(NO_WISH, Map.of());
    assertThat(choice.means()).isEqualTo("net/2");
    assertThat(choice.rdma()).isFalse();
    assertThat(choice.host()).isEqualTo("10.0.0.1");
    assertThat(choice.networkInterface()).isEqualTo("eth0");
    assertThat(choice.detail()).contains("net on eth0", "10.0.0.1", "no RDMA hardware");
  }

  @Test
  void prefersHardwareAndTheNearestDevice() throws IOException {
    FabricOffer far = verbs("mlx5_0", "0000:17:00.0", 0);
    FabricOffer near = verbs("mlx5_1", "0000:b1:00.0", 1);
    OneSidedChoice choice = chooser(TCP_ETH0, far, near).choose(NO_WISH, Map.of());
    assertThat(choice.rdma()).isTrue();
    assertThat(choice.networkInterface()).isEqualTo("mlx5_1");
    assertThat(choice.host()).isEmpty();
    assertThat(choice.detail()).contains("NUMA node 1, same as this process");
  }

  @Test
  void alternatesBetweenEquallyNearDevices() throws IOException {
    FabricChooser chooser =
        chooser(verbs("mlx5_0", "0000:17:00.0", 1), verbs("mlx5_1", "0000:b1:00.0", 1));
    List<String> taken = new ArrayList<>();
    for (int index = 0; index < 3; index++) {
      taken.add(
          chooser
              .choose(new OneSidedOptions("", "", "10.0.0.1", index), Map.of())
              .networkInterface());
    }
    assertThat(taken).containsExactly("mlx5_0", "mlx5_1", "mlx5_0");
  }

  @Test
  void countsADeviceWithSeveralAddressFormatsOnce() throws IOException {
    FabricOffer one = verbs("mlx5_0", "0000:17:00.0", 1);
    FabricOffer two = verbs("mlx5_1", "0000:b1:00.0", 1);
    FabricChooser chooser =
        chooser(one, form(one, "3"), form(one, "5"), form(two, "5"), form(two, "3"));
    List<String> taken = new ArrayList<>();
    for (int index = 0; index < 4; index++) {
      OneSidedChoice choice =
          chooser.choose(new OneSidedOptions("", "", "10.0.0.1", index), Map.of());
      taken.add(choice.networkInterface() + " " + choice.means());
      assertThat(choice.detail()).contains("one of the 2 nearest of 2");
    }
    assertThat(taken)
        .containsExactly(
            "mlx5_0 verbs;ofi_rxm/2",
            "mlx5_1 verbs;ofi_rxm/5",
            "mlx5_0 verbs;ofi_rxm/2",
            "mlx5_1 verbs;ofi_rxm/5");
    assertThat(chooser.choose(new OneSidedOptions("", "mlx5_1", "10.0.0.1", 0), Map.of()).means())
        .isEqualTo("verbs;ofi_rxm/5");
  }

  private static FabricOffer form(FabricOffer offer, String addressForm) {
    return new FabricOffer(offer.provider(), offer.domain(), addressForm, offer.pciDevice());
  }

  @Test
  void reportsAMissingBindAddress() {
    assertThat(chooser(TCP_ETH0).choose(new OneSidedOptions("", "", "", 0), Map.of()).detail())
        .contains("bound to no address")
        .doesNotContain("address of Spark");
  }

  @Test
  void interfaceOptionOverridesTheEnvironment() throws IOException {
    FabricOffer near = verbs("mlx5_1", "0000:b1:00.0", 1);
    FabricChooser chooser = chooser(near, TCP_ETH0, TCP_LO);
    Map<String, String> environment = Map.of("FABRIC_IFACE", "eth0");
    assertThat(chooser.choose(NO_WISH, environment))
        .satisfies(choice -> assertThat(choice.networkInterface()).isEqualTo("eth0"))
        .satisfies(choice -> assertThat(choice.detail()).contains("selected by FABRIC_IFACE"));
    assertThat(
            chooser
                .choose(new OneSidedOptions("", "lo", "10.0.0.1", 0), environment)
                .networkInterface())
        .isEqualTo("lo");
  }

  @Test
  void reportsAnUnknownNameWithTheAvailableOnes() {
    assertThat(chooser(TCP_ETH0, TCP_LO).choose(NO_WISH, Map.of("FABRIC_IFACE", "hsn0")).detail())
        .isEqualTo("FABRIC_IFACE is \"hsn0\", not a usable interface of this host: eth0, lo");
    OneSidedChoice none =
        chooser(TCP_ETH0).choose(new OneSidedOptions("verbs", "", "10.0.0.1", 0), Map.of());
    assertThat(none.isAvailable()).isFalse();
    assertThat(none.detail()).contains("no usable provider \"verbs\"", "available providers: net");
  }

  @Test
  void neverChoosesUnreliableProviders() {
    for (String name :
        List.of("shm", "sockets", "udp;ofi_rxd", "rstream", "coll", "lpp", "", "x")) {
      FabricOffer offer = new FabricOffer(name, "eth0", "2", "");
      assertThat(chooser(offer).choose(NO_WISH, Map.of()).isAvailable()).as(name).isFalse();
      assertThat(offer.isLegal(name)).as(name).isFalse();
    }
    for (String name : List.of("verbs;ofi_rxm", "efa", "cxi", "psm3", "opx")) {
      FabricOffer offer = new FabricOffer(name, "eth0", "2", "");
      assertThat(offer.isLegal("")).as(name).isTrue();
      assertThat(offer.isLegal(name)).as(name).isTrue();
      assertThat(offer.isLegal(name.replace(";ofi_rxm", ""))).as(name).isTrue();
      assertThat(offer.isLegal("tcp")).as(name).isFalse();
    }
  }

  @Test
  void tcpMatchesTheProviderNameOfEachRelease() {
    FabricOffer layered = new FabricOffer("tcp;ofi_rxm", "eth0", "2", "");
    FabricOffer later = new FabricOffer("tcp", "eth0", "2", "");
    for (FabricOffer offer : List.of(TCP_ETH0, later)) {
      for (String wanted : List.of("", "tcp", offer.provider())) {
        OneSidedOptions options = new OneSidedOptions(wanted, "", "10.0.0.1", 0);
        assertThat(chooser(layered, offer).choose(options, Map.of()).provider())
            .as("of \"%s\" wanted is taken", wanted)
            .isEqualTo(offer.provider());
      }
    }
    assertThat(later.isLegal("net")).isFalse();
  }

  @Test
  void choosesLayeredTcpOnlyByItsFullName() {
    FabricChooser chooser = chooser(new FabricOffer("tcp;ofi_rxm", "eth0", "2", ""));
    for (String wanted : List.of("", "tcp")) {
      OneSidedChoice none =
          chooser.choose(new OneSidedOptions(wanted, "", "10.0.0.1", 0), Map.of());
      assertThat(none.isAvailable()).isFalse();
      assertThat(none.detail())
          .contains("only by tcp;ofi_rxm", "install libfabric 1.17 or later")
          .endsWith("spark.ddstore.fabric.provider=tcp;ofi_rxm");
    }
    OneSidedChoice named =
        chooser.choose(new OneSidedOptions("tcp;ofi_rxm", "", "10.0.0.1", 0), Map.of());
    assertThat(named.means()).isEqualTo("tcp;ofi_rxm/2");
  }

  @Test
  void detectsProvidersServedByTheDevice() {
    for (String name : List.of("verbs;ofi_rxm", "verbs", "cxi", "gni", "mlx", "ucx")) {
      assertThat(FabricOffer.isServedByDevice(name)).as(name).isTrue();
    }
    for (String name :
        List.of("verbs;ofi_rxd", "efa", "psm", "psm2", "psm3", "opx", "tcp", "net")) {
      assertThat(FabricOffer.isServedByDevice(name)).as(name).isFalse();
    }
  }

  @Test
  void findsTheRdmaDevicesOfTheKernel() throws IOException {
    Hardware hardware = new Hardware(host);
    assertThat(hardware.availability().isAvailable()).isFalse();
    Files.createDirectories(host.resolve("class/infiniband"));
    Files.createDirectories(host.resolve("class/net/eth0"));
    assertThat(hardware.availability().detail()).startsWith("no RDMA device in ");
    Files.createDirectories(host.resolve("class/infiniband/mlx5_0"));
    Files.createDirectories(host.resolve("class/cxi_user/cxi0"));
    assertThat(hardware.availability().isAvailable()).isTrue();
    assertThat(hardware.availability().detail()).contains("mlx5_0", "cxi0");
  }

  @Test
  void parsesProcessorLists() {
    assertThat(Affinity.numbers("0-3,8,10-11").toString()).isEqualTo("{0, 1, 2, 3, 8, 10, 11}");
    assertThat(Affinity.numbers("").isEmpty()).isTrue();
  }
}
