// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.ddstore.contract.Needed;

/** A page in Chromium without a window, driven by the DevTools protocol. For one thread. */
public final class Browser implements WebSocket.Listener, AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Map<Integer, CompletableFuture<JsonNode>> replies = new ConcurrentHashMap<>();
  private final StringBuilder text = new StringBuilder();
  private final Process chromium;
  private final WebSocket socket;
  private int calls;

  private Browser(Process chromium, URI page) {
    this.chromium = chromium;
    this.socket = HttpClient.newHttpClient().newWebSocketBuilder().buildAsync(page, this).join();
  }

  /**
   * Opens a page, or skips the test if there is no Chromium.
   *
   * @param folder empty folder of the browser
   */
  public static Browser open(Path folder, String address) throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(
            "chromium",
            "--headless=new",
            "--no-sandbox", // which root cannot use
            "--disable-gpu",
            "--remote-debugging-port=0",
            "--window-size=1400,1000",
            "--user-data-dir=" + folder,
            address);
    builder.environment().put("HOME", folder.toString());
    Path log = folder.resolveSibling(folder.getFileName() + ".log");
    Process chromium = null;
    try {
      chromium = builder.redirectErrorStream(true).redirectOutput(log.toFile()).start();
    } catch (IOException e) {
      Needed.check("Chromium", false, e::getMessage);
    }
    Path port = folder.resolve("DevToolsActivePort");
    URI page =
        Awaitility.await()
            .atMost(LIMIT)
            .ignoreExceptions() // the file is there before its content and the port
            .until(() -> page(Files.readAllLines(port).get(0)), Objects::nonNull);
    return new Browser(chromium, page);
  }

  private static URI page(String port) throws IOException, InterruptedException {
    URI list = URI.create("http://127.0.0.1:%s/json".formatted(port));
    HttpRequest request = HttpRequest.newBuilder(list).build();
    for (JsonNode page :
        JSON.readTree(HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body())) {
      if (page.get("type").asText().equals("page")) {
        return URI.create(page.get("webSocketDebuggerUrl").asText());
      }
    }
    return null;
  }

  @Override
  public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean isLast) {
    text.append(data);
    if (isLast) {
      try {
        JsonNode message = JSON.readTree(text.toString());
        if (message.has("id")) {
          replies.remove(message.get("id").asInt()).complete(message);
        }
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
      text.setLength(0);
    }
    return WebSocket.Listener.super.onText(from, data, isLast);
  }

  private JsonNode call(String method, Map<String, ?> parameters) throws Exception {
    int id = calls++;
    CompletableFuture<JsonNode> reply = new CompletableFuture<>();
    replies.put(id, reply);
    String message =
        JSON.writeValueAsString(Map.of("id", id, "method", method, "params", parameters));
    socket.sendText(message, true).join();
    return reply.get(LIMIT.toSeconds(), TimeUnit.SECONDS).path("result");
  }

  /** Returns the value of an expression of JavaScript. */
  public JsonNode value(String expression) throws Exception {
    return call("Runtime.evaluate", Map.of("expression", expression, "returnByValue", true))
        .at("/result/value");
  }

  /** Waits until an expression of JavaScript is true. */
  public void await(String expression) {
    Awaitility.await()
        .atMost(LIMIT)
        .failFast(expression, () -> !chromium.isAlive())
        .until(() -> value(expression), JsonNode::asBoolean);
  }

  /**
   * Writes a picture of the whole page.
   *
   * @param width width of the window in pixels
   * @param file PNG file to write
   */
  public void picture(int width, Path file) throws Exception {
    resize(width, 1000);
    int height = value("document.documentElement.scrollHeight").asInt();
    resize(width, height);
    JsonNode picture = call("Page.captureScreenshot", Map.of("format", "png"));
    Files.createDirectories(file.getParent());
    Files.write(file, Base64.getDecoder().decode(picture.get("data").asText()));
  }

  private void resize(int width, int height) throws Exception {
    call(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
  }

  /** Waits until an element is shown, and clicks into its middle. */
  public void click(String selector, String content) throws Exception {
    String middle =
        """
        (() => {
          const found = [...document.querySelectorAll(%s)].find(e => e.textContent.includes(%s));
          const box = found?.getBoundingClientRect();
          return box?.width ? [box.x + box.width / 2, box.y + box.height / 2] : null;
        })()"""
            .formatted(JSON.writeValueAsString(selector), JSON.writeValueAsString(content));
    JsonNode at = Awaitility.await().atMost(LIMIT).until(() -> value(middle), JsonNode::isArray);
    for (String event : List.of("mouseMoved", "mousePressed", "mouseReleased")) {
      call(
          "Input.dispatchMouseEvent",
          Map.of("type", event, "x", at.get(0), "y", at.get(1), "button", "left", "clickCount", 1));
    }
  }

  @Override
  public void close() {
    socket.abort();
    chromium.descendants().forEach(ProcessHandle::destroyForcibly);
    chromium.destroyForcibly().onExit().join();
  }
}
