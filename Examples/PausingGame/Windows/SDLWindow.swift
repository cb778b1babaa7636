#if canImport(CSDL)
  import AppLifecycle
  import CSDL

  /// A window of SDL, with a renderer for its pictures.
  @MainActor final class SDLWindow: GameWindow {
    /// An error of SDL.
    struct Failure: Error, CustomStringConvertible {
      let description = String(cString: SDL_GetError())
    }

    let scene: SceneIdentifier
    private let window: OpaquePointer
    private let renderer: OpaquePointer
    private var textures: [Sprite: OpaquePointer] = [:]
    private var whenClosed: (() -> Void)?

    /// The identifier of the window in events.
    var number: UInt32 { SDL_GetWindowID(window) }

    /// Opens a window.
    init(_ title: String, of scene: SceneIdentifier, x: Int32, y: Int32, width: Double, height: Double) throws {
      guard let window = SDL_CreateWindow(title, x, y, Int32(width), Int32(height), SDL_WINDOW_SHOWN.rawValue) else {
        throw Failure()
      }
      // Without a graphics card SDL draws in memory.
      guard let renderer = SDL_CreateRenderer(window, -1, 0) else {
        SDL_DestroyWindow(window)
        throw Failure()
      }
      (self.scene, self.window, self.renderer) = (scene, window, renderer)
    }

    func makeTextures() throws {
      for sprite in Sprite.all {
        let bitmap = sprite.bitmap()
        guard
          let texture = SDL_CreateTexture(
            renderer, SDL_PIXELFORMAT_RGBA32.rawValue, Int32(SDL_TEXTUREACCESS_STATIC.rawValue), Int32(bitmap.width),
            Int32(bitmap.height))
        else {
          let failure = Failure()
          freeTextures()
          throw failure
        }
        textures[sprite] = texture
        SDL_UpdateTexture(texture, nil, bitmap.bytes, Int32(bitmap.width * 4))
        SDL_SetTextureBlendMode(texture, SDL_BLENDMODE_BLEND)
        SDL_SetTextureScaleMode(texture, SDL_ScaleModeLinear)
      }
    }

    func freeTextures() {
      for texture in textures.values { SDL_DestroyTexture(texture) }
      textures = [:]
    }

    /// Shows a picture; without effect while the window has no textures.
    func show(_ picture: Picture) {
      guard !textures.isEmpty else { return }
      for shape in picture.shapes {
        guard let texture = textures[shape.sprite] else { continue }
        let color = shape.color
        SDL_SetTextureColorMod(texture, color.red, color.green, color.blue)
        SDL_SetTextureAlphaMod(texture, color.opacity)
        var place = SDL_FRect(
          x: Float(shape.x), y: Float(shape.y), w: Float(shape.width), h: Float(shape.height))
        SDL_RenderCopyF(renderer, texture, nil, &place)
      }
      SDL_RenderPresent(renderer)
    }

    /// Sets the code that is called when the window is closed.
    func onClose(_ body: @escaping () -> Void) { whenClosed = body }

    func close() {
      freeTextures()
      SDL_DestroyRenderer(renderer)
      SDL_DestroyWindow(window)
      whenClosed?()
    }
  }
#endif
