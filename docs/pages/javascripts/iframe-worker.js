/* The search of this site, opened from the disk: browsers start no worker from a file, so its
   script runs in a hidden frame that answers as a worker does. From a server nothing changes. */
(function () {
  if (location.protocol !== "file:") return;
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inner = this.frame.contentWindow;
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inner.importScripts = (...urls) => Promise.all(urls.map((one) => this.load(one)));
      this.load(new URL(url, location.href).href).then(() => {
        this.ready = true;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      });
    }
    load(url) {
      const page = this.frame.contentDocument;
      return new Promise((done, failed) => {
        const script = page.createElement("script");
        script.src = url;
        script.onload = done;
        script.onerror = failed;
        page.body.appendChild(script);
      });
    }
    postMessage(data) {
      if (!this.ready) this.waiting.push(data);
      else this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
    }
    terminate() { this.frame.remove(); }
  }
  window.IFrameWorker = window.Worker = IFrameWorker;
})();
